"""Signals while a file is written: the process ends, the old file stays, and no part of the new one is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import xarray

from jourdain import files
from jourdain.data import files as data_files
from jourdain.data.signals import signals_clean_up, signals_held

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

SMALL = xarray.Dataset({"loss": ("sample", [1.0, 2.0])})

# Writes one file again and again, so that a signal comes in the midst of it.
WRITER = """
import signal, sys, numpy as np, xarray
from jourdain import files
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # what started the tests may ignore them, as `nohup` does
signal.signal(signal.SIGINT, signal.default_int_handler)
ds = xarray.Dataset({f"x{i}": ("sample", np.zeros(int(sys.argv[2]))) for i in range(40)})
while True:
    files.write(ds, sys.argv[1])
    print("written", flush=True)
"""


def writer(path: Path, size: int = 20_000) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(size)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "written\n"
    return process


@pytest.mark.parametrize("wait", [0.0, 0.007, 0.02, 0.033])
def test_ctrl_c_while_a_netcdf_file_is_written(tmp_path: Path, wait: float):
    process = writer(tmp_path / "x.nc")
    time.sleep(wait)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in stderr
    assert [file.name for file in tmp_path.iterdir()] == ["x.nc"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("suffix", ["nc", "csv", "parquet", "json"])
def test_signals_that_end_the_process_leave_no_part(tmp_path: Path, suffix: str, number: signal.Signals):
    process = writer(tmp_path / f"x.{suffix}", 2000)
    time.sleep(0.01)
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == -number  # as without a handler
    assert [file.name for file in tmp_path.iterdir()] == [f"x.{suffix}"]


def test_the_next_write_removes_what_a_killed_process_left(tmp_path: Path):
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    prefix = data_files._part_prefix()
    abandoned = tmp_path / f"{prefix}{int(ended.stdout)}-abc.nc"
    kept = [tmp_path / f"{prefix}{os.getppid()}-abc.nc", tmp_path / f"{prefix}rest.nc", tmp_path / ".other.nc"]
    for file in (abandoned, *kept):
        file.write_text("part")
    files.write(SMALL, tmp_path / "x.csv")
    assert {file.name for file in tmp_path.iterdir()} == {"x.csv", *(file.name for file in kept)}


def test_kill_and_write_again(tmp_path: Path):
    for _ in range(20):
        process = writer(tmp_path / "x.nc", 200_000)
        time.sleep(0.02)
        process.kill()
        process.communicate()
        if len(list(tmp_path.iterdir())) > 1:
            break
    else:
        pytest.skip("never killed in the midst of writing")
    files.write(SMALL, tmp_path / "y.csv")
    assert {file.name for file in tmp_path.iterdir()} == {"x.nc", "y.csv"}


def test_what_a_zombie_left_is_removed(tmp_path: Path):
    """A killed process stays in the table of processes until its parent, which may never ask, asks for it."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    part = tmp_path / f"{data_files._part_prefix()}{process.pid}-abc.nc"
    part.write_text("part")
    files.write(SMALL, tmp_path / "x.csv")
    assert part.exists()
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    files.write(SMALL, tmp_path / "x.csv")
    assert not part.exists()
    process.wait()


def test_handlers_run_behind_what_holds_signals():
    reached = False
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    try:
        with pytest.raises(KeyboardInterrupt), signals_held():  # noqa: PT012
            signal.raise_signal(signal.SIGINT)
            reached = True
        assert reached
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_handlers_of_the_program_stay():
    seen: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))
    try:
        with signals_clean_up():
            signal.raise_signal(signal.SIGTERM)
        assert seen == [signal.SIGTERM]
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with signals_clean_up():
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_files_are_written_in_threads_too(tmp_path: Path):
    thread = threading.Thread(target=files.write, args=(SMALL, tmp_path / "x.nc"))
    thread.start()
    thread.join()
    assert [file.name for file in tmp_path.iterdir()] == ["x.nc"]
