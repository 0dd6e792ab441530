"""A robot file rendered by MuJoCo, in a process of its own: where there is no GL, only that process fails.

As a program: a JSON order on standard input, a PNG on standard output.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 640, 480  # pixels; MuJoCo's default buffer
PATIENCE = 60.0  # seconds
ROADS = ("egl", "osmesa", "")  # of MuJoCo to a GL without a screen; the last is its own choice


def rendered(order: dict[str, Any]) -> NDArray[np.uint8] | None:
    """The picture `(HEIGHT, WIDTH, 3)` of an order; None where no GL is there or MuJoCo cannot compile the file.

    The order: `sources` with path, floating and prefix; `coordinates`, by joint; `floor`, its height, or None.
    """
    chosen = os.environ.get("MUJOCO_GL")
    for road in (chosen,) if chosen is not None else ROADS:
        environment = {**os.environ, **({"MUJOCO_GL": road} if road else {})}
        command = [sys.executable, "-W", "ignore", "-m", "jourdain.plots.render"]
        try:
            done = subprocess.run(
                command, input=json.dumps(order).encode(), env=environment, capture_output=True, timeout=PATIENCE
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0 and done.stdout:
            from matplotlib.image import imread

            pixels = np.asarray(imread(io.BytesIO(done.stdout), format="png"))
            return (255 * pixels[..., :3]).astype(np.uint8)
        if done.returncode == NOT_COMPILED:
            return None
    return None


NOT_COMPILED = 3  # exit code: no GL would help


def main() -> int:
    """Read the order, compile, pose, render, write."""
    import mujoco
    from matplotlib.image import imsave

    order = json.load(sys.stdin)
    mujoco.set_mju_user_warning(lambda said: None)
    try:
        model = _model(order)
    except (ValueError, RuntimeError):
        return NOT_COMPILED
    data = mujoco.MjData(model)
    for name, numbers in order["coordinates"].items():
        joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if joint >= 0:
            start = model.jnt_qposadr[joint]
            data.qpos[start : start + len(numbers)] = numbers
    mujoco.mj_forward(model, data)
    camera = mujoco.MjvCamera()
    places = data.xpos[1:]
    camera.lookat = (places.min(axis=0) + places.max(axis=0)) / 2
    camera.distance = 1.5 * float(np.linalg.norm(np.ptp(places, axis=0))) + 0.4
    camera.azimuth, camera.elevation = 130.0, -18.0
    with mujoco.Renderer(model, HEIGHT, WIDTH) as renderer:
        renderer.update_scene(data, camera)
        imsave(sys.stdout.buffer, renderer.render(), format="png")
    return 0


def _model(order: dict[str, Any]) -> Any:
    import mujoco

    whole = mujoco.MjSpec()
    for source in order["sources"]:
        part = mujoco.MjSpec.from_file(source["path"])
        roots = list(part.worldbody.bodies)
        if source["floating"] and len(roots) == 1 and not roots[0].joints:
            roots[0].add_freejoint(name="base")
        whole.attach(part, prefix=source["prefix"], frame=whole.worldbody.add_frame())
    if order["floor"] is not None:
        kind = mujoco.mjtGeom.mjGEOM_PLANE
        whole.worldbody.add_geom(type=kind, size=[5, 5, 0.1], pos=[0, 0, order["floor"]], rgba=[0.9, 0.9, 0.88, 1])
    whole.visual.headlight.ambient = [0.45, 0.45, 0.45]
    texture = whole.add_texture(name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, width=64, height=64)
    texture.builtin, texture.rgb1, texture.rgb2 = mujoco.mjtBuiltin.mjBUILTIN_FLAT, [1, 1, 1], [1, 1, 1]
    return whole.compile()


if __name__ == "__main__":
    raise SystemExit(main())
