"""Whose machine code is run: files and folders that others could have written, strange files, swapped objects."""

from __future__ import annotations

import hashlib
import os
import signal
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="kernels are compiled by llvmlite")

from jourdain.compute.kernel import cache
from jourdain.compute.kernel.batch import Kernel, Lanes
from jourdain.compute.kernel.target import Target

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owner and mode here")
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
NOBODY = 65534
x = ca.SX.sym("x")


def function(factor: float) -> ca.Function:
    return ca.Function("f", [x], [factor * x])


def name_of(f: ca.Function) -> str:
    return cache.key(f.serialize().encode(), 0, Target.host())


def is_right(kernel: Kernel, factor: float) -> bool:
    points = np.arange(5.0)
    return bool((kernel([Lanes.of(points, (5,))], 5)[0] == factor * points).all())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The cache, with the kernel of 2 x in it; what takes longer than a minute is stopped."""
    monkeypatch.setenv("JOURDAIN_CACHE", str(tmp_path / "kernels"))

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    Kernel(function(2.0))
    yield tmp_path / "kernels"
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


# Folders


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022, 0o077])
def test_folders_and_files_are_for_this_user_only(mask, tmp_path, monkeypatch):
    """Whatever the umask, and also the parents that had to be made."""
    place = tmp_path / "a" / "b" / "kernels"
    monkeypatch.setenv("JOURDAIN_CACHE", str(place))
    before = os.umask(mask)
    try:
        Kernel(function(2.0))
    finally:
        os.umask(before)
    (file,) = place.iterdir()
    for made in (place, place.parent, place.parent.parent):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert Kernel(function(2.0)).from_cache


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770, 0o702, 0o720])
def test_a_folder_that_others_can_write_is_not_used(folder, mode):
    """Nothing is read from it, and nothing is written to it."""
    folder.chmod(mode)
    kernels = Kernel(function(2.0)), Kernel(function(3.0))
    assert [kernel.from_cache for kernel in kernels] == [False, False]
    assert is_right(kernels[0], 2.0)
    assert is_right(kernels[1], 3.0)
    assert [file.name for file in folder.iterdir()] == [name_of(function(2.0))]
    assert str(folder) in cache.refused()
    folder.chmod(0o755)  # others may read
    assert Kernel(function(2.0)).from_cache
    assert cache.refused() == ""


@as_root
def test_a_folder_of_somebody_else_is_not_used(folder):
    os.chown(folder, NOBODY, NOBODY)
    assert not Kernel(function(2.0)).from_cache
    Kernel(function(3.0))
    assert len(list(folder.iterdir())) == 1


def test_a_link_to_a_folder_is_not_used(folder, monkeypatch):
    link = folder.parent / "link"
    link.symlink_to(folder)
    monkeypatch.setenv("JOURDAIN_CACHE", str(link))
    assert not Kernel(function(2.0)).from_cache
    Kernel(function(3.0))
    assert len(list(folder.iterdir())) == 1


def test_a_relative_folder_is_that_of_the_working_directory(folder, monkeypatch):
    monkeypatch.setenv("JOURDAIN_CACHE", folder.name)
    monkeypatch.chdir(folder.parent)
    assert Kernel(function(2.0)).from_cache


@pytest.mark.parametrize("given", ["", None])
def test_without_a_wish_the_folder_is_the_systems(folder, given, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder.parent / "xdg"))
    if given is None:
        monkeypatch.delenv("JOURDAIN_CACHE")
    else:
        monkeypatch.setenv("JOURDAIN_CACHE", given)
    assert cache.folder().name == "jourdain"


# Files


def _fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _link_to(target: str) -> Callable[[Path], None]:
    def replace(file: Path) -> None:
        file.unlink()
        file.symlink_to(target)

    return replace


def _link_to_itself_elsewhere(file: Path) -> None:
    file.rename(file.parent.parent / "elsewhere")
    file.symlink_to(file.parent.parent / "elsewhere")


def _huge(file: Path) -> None:
    os.truncate(file, 1 << 40)  # of zeros that take no room on the disk


def _second_name(file: Path) -> None:
    os.link(file, file.parent.parent / "elsewhere")


def _folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


STRANGE = {
    "a FIFO": _fifo,
    "a link to an endless device": _link_to("/dev/zero"),
    "a link to nothing": _link_to("/nonexistent"),
    "a link in a circle": lambda file: _link_to(str(file))(file),
    "a link to the object": _link_to_itself_elsewhere,
    "a second name of the object": _second_name,
    "a huge file": _huge,
    "writable by a group": lambda file: file.chmod(0o660),
    "writable by all": lambda file: file.chmod(0o602),
    "not readable": lambda file: file.chmod(0o000),
    "a folder": _folder,
}


@pytest.mark.parametrize("what", STRANGE)
def test_a_strange_file_is_not_read(folder, what):
    if what == "not readable" and os.geteuid() == 0:
        pytest.skip("root reads everything")
    (file,) = folder.iterdir()
    STRANGE[what](file)
    assert cache.read(file.name) is None
    kernel = Kernel(function(2.0))
    assert not kernel.from_cache
    assert is_right(kernel, 2.0)
    assert Kernel(function(2.0)).from_cache is not (what == "a folder")  # written anew, where it can be
    assert list(folder.iterdir()) == [file]


@as_root
def test_a_file_of_somebody_else_is_not_read(folder):
    (file,) = folder.iterdir()
    os.chown(file, NOBODY, NOBODY)
    assert not Kernel(function(2.0)).from_cache


# Contents


def test_an_object_under_the_name_of_another_is_not_run(folder):
    """Renamed; with a digest that fits its content only; and with one that fits its name too."""
    Kernel(function(3.0))
    mine, other = folder / name_of(function(2.0)), folder / name_of(function(3.0))
    right, wrong = mine.read_bytes(), other.read_bytes()
    for swapped in (wrong, hashlib.sha256(wrong[32:]).digest() + wrong[32:]):
        mine.write_bytes(swapped)
        assert cache.read(mine.name) is None
        kernel = Kernel(function(2.0))
        assert not kernel.from_cache
        assert is_right(kernel, 2.0)
        assert mine.read_bytes() == right
    cache.write(mine.name, wrong[32:])
    assert cache.read(mine.name) == wrong[32:]
    kernel = Kernel(function(2.0))
    assert not kernel.from_cache
    assert is_right(kernel, 2.0)


@pytest.mark.parametrize("content", [b"", b"not an object", bytes(10_000), b"\x7fELF" * 1000])
@pytest.mark.parametrize("digest", ["content", "both"])
def test_what_is_no_object_does_not_end_the_process(folder, content, digest):
    file = folder / name_of(function(2.0))
    if digest == "both":
        cache.write(file.name, content)
    else:
        file.write_bytes(hashlib.sha256(content).digest() + content)
    kernel = Kernel(function(2.0))
    assert not kernel.from_cache
    assert is_right(kernel, 2.0)


# Writing


def test_what_killed_processes_left_is_removed(folder):
    (file,) = folder.iterdir()
    (folder / f"{file.name[:16]}abc.part").write_bytes(b"half")
    file.unlink()
    Kernel(function(2.0))
    assert list(folder.iterdir()) == [file]


def test_nothing_is_left_of_a_write_that_is_interrupted(folder, monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Kernel(function(3.0))
    assert len(list(folder.iterdir())) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_is_read_only_is_read(folder):
    folder.chmod(0o500)
    assert Kernel(function(2.0)).from_cache
    assert is_right(Kernel(function(3.0)), 3.0)
    folder.chmod(0o700)
