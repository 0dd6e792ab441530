"""What `pip install jourdain` without extras must do; `make test-bare` runs it where nothing else is installed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import sympy as sp
from sympy.physics.mechanics import Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

import jourdain as jd


def quick_start() -> None:
    """The README's rod: it falls flat, and one end is latched."""
    (y, theta), (m, L) = dynamicsymbols("y theta"), sp.symbols("m L")
    N, B, O, C = ReferenceFrame("N"), ReferenceFrame("B"), Point("O"), Point("C")
    B.orient_axis(N, theta, N.z)
    C.set_pos(O, y * N.y)
    A = C.locatenew("A", -L / 2 * B.x)
    body = RigidBody("body", C, B, m, (inertia(B, 0, 0, m * L**2 / 12), C))
    rod = jd.Mechanism.from_sympy([body], N, [y, theta], parameters={m: 2.0, L: 1.5}, points={"A": A}, origin=O)
    latch = rod.constraint("latch", A.pos_from(O).dt(N).dot(N.y))
    t = rod.event(inert=[latch]).solve(v={"y": -3.0}, L=1.0)
    assert abs(t.loss - 2.25) < 1e-12  # m v²/8


def main() -> None:
    for package in ("mujoco", "netCDF4", "pyarrow", "imageio_ffmpeg"):
        assert find_spec(package) is None, f"{package} is here: this is not a bare installation"
    quick_start()
    strike = jd.gallery.walker()
    ds = strike.sweep(theta=np.linspace(0.3, 1.0, 2000), rho=[0.0, 0.25])
    assert bool((ds.status == 0).all())
    gait = jd.gallery.compass_gait().gait()
    assert gait.stable
    with tempfile.TemporaryDirectory() as folder:
        jd.plots.save(jd.plots.curve(ds, "loss"), Path(folder, "loss.png"))
        assert Path(folder, "loss.png").stat().st_size > 10_000
        jd.files.write(ds, Path(folder, "loss.csv"))
        assert len(Path(folder, "loss.csv").read_text("utf-8").splitlines()) == 4001
        strike.report(Path(folder, "walker.html"), theta=0.7)
        assert Path(folder, "walker.html").read_text("utf-8").startswith("<!DOCTYPE html>")
        for arguments in (["list"], ["run", "walker", "--plot", f"{folder}/walker.svg"], ["run", "simplest_walker"]):
            subprocess.run([sys.executable, "-m", "jourdain.cli", *arguments], check=True, capture_output=True)
    message = ""
    try:
        jd.load(Path(jd.gallery.__file__).parent / "robots/quadruped.xml")
    except jd.MissingExtra as error:
        message = str(error)
    assert "pip install 'jourdain[robots]'" in message
    done = "quick start, sweep, gait, figure, report, CSV, command line; jd.load names its extra"
    print(f"A bare installation works: {done}.")


if __name__ == "__main__":
    main()
