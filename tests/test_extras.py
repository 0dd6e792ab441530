"""Without the packages of the extras: what needs them names the extra, everything else works."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import xarray

import jourdain as jd
from jourdain.data.files import write

QUADRUPED = Path(jd.gallery.__file__).parent / "robots/quadruped.xml"


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if only `pip install jourdain` had been done."""
    for package in ("mujoco", "netCDF4", "h5netcdf", "pyarrow", "imageio_ffmpeg"):
        for module in [name for name in sys.modules if name.partition(".")[0] == package]:
            monkeypatch.delitem(sys.modules, module)
        monkeypatch.setitem(sys.modules, package, None)


@pytest.fixture(scope="module")
def sweep() -> xarray.Dataset:
    return jd.gallery.particle().sweep(kappa=[0.0, 1 / 3, 1e-7, 2.0], v_x=[1e-300, 2e22, 123456789.0])


def forget_robots() -> None:
    """The problems that other tests built, with MuJoCo."""
    for name in ("capture", "touchdown"):
        getattr(jd.gallery, name).cache_clear()


@pytest.mark.usefixtures("bare")
def test_robots_name_their_extra(command) -> None:
    with pytest.raises(jd.MissingExtra, match=r"Reading a robot file needs mujoco: pip install 'jourdain\[robots\]'"):
        jd.load(QUADRUPED)
    forget_robots()
    code, _, error = command("run", "capture")
    assert code == 2
    assert "jourdain[robots]" in error


@pytest.mark.usefixtures("bare")
def test_the_list_is_there_without_robots(command) -> None:
    forget_robots()
    code, text, _ = command("list")
    assert code == 0
    assert "walker" in text
    assert "jourdain[robots]" in "".join(text.split())


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("suffix", ["nc", "parquet"])
def test_files_name_their_extra(suffix: str, sweep: xarray.Dataset, tmp_path: Path) -> None:
    with pytest.raises(jd.MissingExtra, match=rf"Writing .{suffix} needs .*: pip install 'jourdain\[files\]'"):
        write(sweep, tmp_path / f"sweep.{suffix}")
    assert not list(tmp_path.iterdir())


def test_netcdf_by_the_other_package(sweep: xarray.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """macOS 13 has h5netcdf instead of netCDF4; the file holds the same."""
    pytest.importorskip("h5netcdf", reason="h5netcdf writes .nc where netCDF4 is not there")
    write(sweep, tmp_path / "one.nc")
    monkeypatch.setitem(sys.modules, "netCDF4", None)
    write(sweep, tmp_path / "other.nc")
    monkeypatch.undo()
    one, other = (xarray.load_dataset(tmp_path / name, engine="netcdf4") for name in ("one.nc", "other.nc"))
    xarray.testing.assert_identical(one, other)
    xarray.testing.assert_equal(other, sweep)


@pytest.mark.usefixtures("bare")
def test_logs_name_their_extra(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("t [s],q.q1 [rad]\n0,1\n")
    with pytest.raises(jd.MissingExtra, match=r"Reading a log from a file needs pyarrow.*jourdain\[files\]"):
        jd.experiment.read(tmp_path / "log.csv", jd.gallery.pantograph())


def test_csv_without_pyarrow_has_the_same_numbers(sweep: xarray.Dataset, tmp_path: Path, request) -> None:
    """Every number reads back as the same number; headers, order of lines and statuses are the same texts."""
    write(sweep, tmp_path / "fast.csv")
    request.getfixturevalue("bare")
    write(sweep, tmp_path / "slow.csv")
    write(sweep, tmp_path / "slow.json")
    fast, slow = ([line.split(",") for line in (tmp_path / name).read_text("utf-8").splitlines()]
                  for name in ("fast.csv", "slow.csv"))  # fmt: skip
    assert fast[0] == slow[0]
    assert len(fast) == len(slow) == 13
    assert [line[-1] for line in fast] == [line[-1] for line in slow]
    for one, other in zip(fast[1:], slow[1:], strict=True):
        assert [float(cell or "nan") for cell in one[:-1]] == pytest.approx(
            [float(cell or "nan") for cell in other[:-1]], rel=0, abs=0, nan_ok=True
        )
