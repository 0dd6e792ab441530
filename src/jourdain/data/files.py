"""A dataset to a file: netCDF, CSV, Parquet, JSON or LaTeX, by the suffix."""

from __future__ import annotations

import hashlib
import os
import platform
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jourdain.data.columns import Columns
from jourdain.data.formats import csv, json, latex, netcdf, parquet
from jourdain.data.signals import signals_clean_up
from jourdain.errors import CannotWrite, shortened, unknown

if TYPE_CHECKING:
    import xarray


def write(ds: xarray.Dataset | Columns, path: str | os.PathLike[str]) -> None:
    """Write a dataset; the suffix says how: .nc, .csv, .parquet, .json, .tex.

    netCDF and JSON keep the dataset as it is (JSON: `Dataset.to_dict`, null for NaN, which `Dataset.from_dict` reads
    as None, and 1e999 for infinity, since JSON has no words for them). CSV and Parquet are tidy: one line per event,
    the swept parameters first, then the fixed ones, the quantities by their addresses and the status by its name.
    Angles are radians. LaTeX is a table to print, of few lines and columns, angles in degrees. The file is there in
    full or not at all.

    >>> import tempfile, jourdain as jd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "bounce.csv")
    ...     write(jd.gallery.particle().sweep(kappa=[0.0, 0.5], keep=["loss", "impulse.floor"]), path)
    ...     print(path.read_text(encoding="utf-8"))
    kappa [1],m [kg],v_x [m/s],v_z [m/s],loss [J],impulse.floor [N s],status
    0,1,2,-3,4.5,3,ok
    0.5,1,2,-3,3.375,4.5,ok
    <BLANKLINE>
    """
    path = Path(path)
    check_path(path)
    with whole_file(path) as part:
        _FORMATS[_format(path)].write(ds if isinstance(ds, Columns) else Columns(ds), part)


def check_path(path: str | os.PathLike[str]) -> None:
    """Raise, before anything is computed, if a dataset cannot be written to this path."""
    path = Path(path)
    check_place(path)
    if not path.suffix:
        raise CannotWrite(f"'{path}' has no suffix; .{', .'.join(_FORMATS)} say how it is to be written.")
    if _format(path) in ("png", "svg", "pdf"):
        raise CannotWrite(
            f"'{path}' is the name of a picture; numbers go to .{', .'.join(_FORMATS)}, pictures to --plot."
        )
    if _format(path) not in _FORMATS:
        raise unknown("file format", _format(path), _FORMATS)
    check = getattr(_FORMATS[_format(path)], "check", None)  # of formats that need a package of an extra
    if check is not None:
        check()


def check_place(path: Path) -> None:
    """Raise if there can be no file at this path, whatever it is to hold."""
    try:
        path.resolve().lstat()  # names that are too long, links in a circle, NUL
    except FileNotFoundError:
        pass
    except (OSError, ValueError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or error
        raise CannotWrite(f"'{shortened(str(path))}' cannot be written: {why}; choose another name.") from None
    if path.is_dir():
        raise CannotWrite(f"'{path}' is a folder; give the name of a file.")
    if not path.parent.is_dir():
        raise CannotWrite(f"The folder '{path.parent}' does not exist; make it first.")
    if path.exists() and not (path.is_file() and os.access(path, os.W_OK)):
        raise CannotWrite(f"'{path}' may not be overwritten; choose another name.")
    if not os.access(path.parent, os.W_OK):
        raise CannotWrite(f"The folder '{path.parent}' may not be written to; choose another.")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A file beside the path to write to; it takes the path's place when all is written, else it goes.

    SIGTERM and SIGHUP remove it too. What a killed process left in the folder is removed by the next one that writes.
    """
    path = path.resolve()  # of a link, what it points to
    # It has its name before it is there: Ctrl-C may come at any instant.
    part = path.with_name(f"{_part_prefix()}{os.getpid()}-{secrets.token_hex(6)}{path.suffix}")
    with signals_clean_up() as parts:
        try:
            _remove_abandoned(path.parent)
            parts.append(part)
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            part.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
            yield part
            part.replace(path)
        except OSError as error:
            raise CannotWrite(f"'{path}' cannot be written: {error.strerror or error}.") from None
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)


@cache
def _part_prefix() -> str:
    """How the part files of this machine begin; the number of the process follows.

    The mark is that of the machine and, in a container, of its processes, whose numbers mean something only there.
    """
    space = Path("/proc/self/ns/pid")
    machine = f"{platform.node()} {os.readlink(space) if space.is_symlink() else ''}"
    return f".jourdain-part-{hashlib.sha256(machine.encode()).hexdigest()[:8]}-"


def _remove_abandoned(folder: Path) -> None:
    """Remove the part files in a folder whose process has ended."""
    prefix = _part_prefix()
    for part in folder.glob(f"{prefix}*"):
        owner = part.name.removeprefix(prefix).partition("-")[0]
        if owner.isdecimal() and not _is_running(int(owner)):
            with suppress(OSError):
                part.unlink()


def _is_running(process: int) -> bool:
    if os.name == "nt":  # nobody has tried it there
        return True
    import psutil

    try:  # one that was killed stays as a zombie until its parent asks for it, which may be never
        return bool(psutil.Process(process).status() != psutil.STATUS_ZOMBIE)
    except (psutil.NoSuchProcess, OverflowError):
        return False
    except psutil.Error:  # it is somebody else's
        return True


def _umask() -> int:
    """What new files may not be; the system tells it only when it is set."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _format(path: Path) -> str:
    return path.suffix.removeprefix(".").lower()


# modules, by suffix
_FORMATS: dict[str, Any] = {"nc": netcdf, "csv": csv, "parquet": parquet, "json": json, "tex": latex}
