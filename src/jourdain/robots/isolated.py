"""A robot file read in a process of its own: if MuJoCo's parser crashes or does not end, the caller goes on.

The child has limits of time and memory (memory: not on Windows). It protects from crashes, not from an attacker: what
it returns is trusted.
"""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

from jourdain.errors import BadRobot, Error, RobotWarning
from jourdain.robots.description import Description

LIMIT_S = 60.0
LIMIT_BYTES = 4 << 30
_CHILD = "import sys; sys.path[:] = {path!r}; from jourdain.robots.isolated import child; child()"


def read_isolated(path: Path, floating: bool) -> Description:
    """As `robot_file.read`, in a child process."""
    command = [sys.executable, "-I", "-c", _CHILD.format(path=sys.path)]
    request = pickle.dumps((path, floating, LIMIT_S, LIMIT_BYTES))
    try:
        done = subprocess.run(command, input=request, capture_output=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        raise BadRobot(f"'{path}' is not read after {LIMIT_S:g} s; make the model smaller.") from None
    if done.returncode:
        raise BadRobot(f"'{path}' cannot be read: MuJoCo's parser ends with {_ending(done.returncode)}.")
    result, messages = pickle.loads(done.stdout)
    for text in messages:
        warnings.warn(text, RobotWarning, stacklevel=4)
    if isinstance(result, Exception):
        raise result
    assert isinstance(result, Description)
    return result


def _ending(code: int) -> str:
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"exit code {code}"


def child() -> None:
    """In the child: read what the parent asks for, and write the description and the warnings."""
    import os

    from jourdain.robots.robot_file import read

    path, floating, seconds, n_bytes = pickle.load(sys.stdin.buffer)
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what MuJoCo prints is no part of the answer
    _limit(seconds, n_bytes)
    result: Any
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = read(path, floating)
        except Error as error:
            result = error
        except MemoryError:
            result = BadRobot(f"'{path}' needs more than {n_bytes >> 20} MiB to be read; make the model smaller.")
    messages = [str(one.message) for one in caught if issubclass(one.category, RobotWarning)]
    answer.write(pickle.dumps((result, messages)))
    answer.close()


def _limit(seconds: float, n_bytes: int) -> None:
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return
    for kind, most in ((resource.RLIMIT_AS, n_bytes), (resource.RLIMIT_CPU, int(seconds)), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(kind)[1]
        if hard == resource.RLIM_INFINITY or most < hard:
            resource.setrlimit(kind, (most, hard))
