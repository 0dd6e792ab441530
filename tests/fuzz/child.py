"""Tries inputs one after the other, in a process of its own: `python -m fuzz.child FOLDER KIND SEED N`.

Before each input its number is written to the file `now`, so that the input that ends the process is known. What is
wrong is printed: `NUMBER: what`.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import jourdain as jd
from fuzz.inputs import COMMANDS, MJCF, MODEL, URDF, broken, log
from jourdain.errors import Error


def robot(text: str, file: str) -> str:
    Path(file).write_text(text, encoding="utf-8", errors="surrogatepass")
    try:
        loaded = jd.load(file)
        M = loaded.mass_matrix()
    except Error as refused:
        return _sentence(str(refused))
    return "" if np.isfinite(M).all() else f"M is {M}"


def read_log(text: str, file: str) -> str:
    Path(file).write_text(text, encoding="utf-8", errors="surrogatepass")
    return command(["log", file, "--model", "rig.py:model"])


def model(text: str, file: str) -> str:
    Path(file).write_text(text, encoding="utf-8", errors="surrogatepass")
    return command(["log", "strike.csv", "--model", f"{file}:model"])


def command(words: list[str]) -> str:
    """What is wrong with how the command line answers; "" if nothing is."""
    from jourdain.cli.main import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        sys.argv = ["jourdain", *words]
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
    if code not in (0, 2):
        return f"exit code {code}: {err.getvalue()[-300:]}"
    if "Traceback" in err.getvalue():
        return f"a traceback: {err.getvalue()[-300:]}"
    return "" if code == 0 or (err.getvalue() + out.getvalue()).strip() else "exit code 2 without a word"


def _sentence(message: str) -> str:
    return "" if message.strip() else "an error without a message"


def tried(kind: str, rng: random.Random) -> tuple[str, Callable[[], str]]:
    """(the input, what tries it)."""
    if kind == "mjcf":
        text = broken(MJCF, rng)
        return text, lambda: robot(text, "robot.xml")
    if kind == "urdf":
        text = broken(URDF, rng)
        return text, lambda: robot(text, "robot.urdf")
    if kind == "log":
        text = broken(log(rng), rng)
        return text, lambda: read_log(text, rng.choice(("strike.csv", "strike.csv", "strike.parquet", "strike.txt")))
    if kind == "model":
        text = broken(MODEL, rng)
        return text, lambda: model(text, "own.py")
    words = broken(rng.choice(COMMANDS), rng).replace("\x00", "").split()
    words = [word for word in words if not word.startswith(("bench", "reproduce"))][:12]
    return " ".join(words), lambda: command(words)


RIG = """import sympy as sp
import jourdain as jd
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, dynamicsymbols

y, N, O = dynamicsymbols("y"), ReferenceFrame("N"), Point("O")
O.set_vel(N, 0)
P = O.locatenew("P", y * N.y)
P.set_vel(N, y.diff() * N.y)
block = jd.Mechanism.from_sympy([Particle("block", P, sp.Symbol("m"))], q=[y], frame=N, parameters={"m": 1.0})
floor = block.constraint("floor", y.diff())
model = block.event(inert=[floor])
"""


def main() -> None:
    folder, kind, seed, n = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    os.chdir(folder)
    Path("rig.py").write_text(RIG, encoding="utf-8")
    Path("strike.csv").write_text(log(random.Random(0)), encoding="utf-8")
    warnings.simplefilter("ignore")
    for i in range(n):
        text, trial = tried(kind, random.Random(f"{seed} {kind} {i}"))
        Path("now").write_text(f"{i}\n{text}", encoding="utf-8", errors="surrogatepass")
        try:
            wrong = trial()
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
        if wrong:
            print(f"{i}: {wrong!r}", flush=True)


if __name__ == "__main__":
    main()
