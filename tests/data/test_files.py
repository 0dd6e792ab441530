"""Files: what was written is what was computed, in every format, and a file is there in full or not at all."""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
import xarray

import jourdain as jd
from cases import EVENTS, read_csv
from jourdain import gallery
from jourdain.data import files
from jourdain.data.addresses import find, unit_of
from jourdain.data.columns import Columns
from jourdain.data.formats.arrow import CHUNK

FORMATS = ("nc", "csv", "parquet", "json")


@cache
def strikes() -> xarray.Dataset:
    """A grid in which one lane in three fails."""
    return gallery.walker().sweep(theta=[0.3, np.nan, 0.5], rho=[0.0, 0.25], mu=2.0)


def lines(path: Path) -> tuple[list[str], list[list[str]]]:
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


def assert_tidy(table: pd.DataFrame, ds: xarray.Dataset) -> None:
    """Bit by bit what the dataset has, one line per event, the first axis slowest."""
    assert len(table) == ds.status.size
    for line, place in enumerate(np.ndindex(ds.status.shape)):
        event = ds.isel(dict(zip(ds.status.dims, place, strict=True)))
        for name in ds.coords:
            if ds[name].dtype.kind == "f":
                np.testing.assert_array_equal(table[name][line], event[name].values, err_msg=str(name))
        for name, values in event.data_vars.items():
            if name == "status":
                assert table["status"][line] == jd.Status(int(values)).name.lower()
            elif values.ndim:
                for label, value in zip(values[values.dims[0]].values, values.values, strict=True):
                    address = f"{str(name).partition('.')[0]}.{label}"
                    np.testing.assert_array_equal(table[address][line], value, err_msg=address)
            else:
                np.testing.assert_array_equal(table[name][line], values.values, err_msg=str(name))


def plain(ds: xarray.Dataset) -> xarray.Dataset:
    """Numbers as float64, which JSON's null and 0 are not, and attributes as lists."""
    found = ds.copy()
    for name in found.variables:
        if found[name].dtype.kind in "iO":
            found[name] = found[name].astype(float)
    for variable in found.variables.values():
        variable.attrs = {key: np.asarray(value).tolist() for key, value in variable.attrs.items()}
    return found


# Round trips


def test_netcdf(tmp_path: Path):
    files.write(strikes(), tmp_path / "strikes.nc")
    with xarray.open_dataset(tmp_path / "strikes.nc") as back:
        xarray.testing.assert_equal(back.load(), strikes())
        assert back.loss.attrs["units"] == "J"
        assert back.theta.attrs["units"] == "rad"
        assert back.status.dtype == np.int8
        assert back.status.attrs["flag_meanings"] == strikes().status.attrs["flag_meanings"]
        assert back.attrs == strikes().attrs


def test_csv(tmp_path: Path):
    files.write(strikes(), tmp_path / "strikes.csv")
    header, rows = lines(tmp_path / "strikes.csv")
    table = pd.DataFrame(rows, columns=[cell.partition(" [")[0] for cell in header])
    numbers = table.columns.drop("status")
    assert_tidy(table.astype(dict.fromkeys(numbers, float)), strikes())
    raw = (tmp_path / "strikes.csv").read_bytes()
    assert raw.count(b"\n") == 7
    assert b"\r" not in raw


def test_csv_read_by_pandas(tmp_path: Path):
    files.write(strikes(), tmp_path / "strikes.csv")
    table = read_csv(tmp_path / "strikes.csv")
    assert_tidy(table.rename(columns=lambda name: name.partition(" [")[0]), strikes())


def test_parquet(tmp_path: Path):
    files.write(strikes(), tmp_path / "strikes.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "strikes.parquet")
    assert_tidy(table.to_pandas(), strikes())
    assert_tidy(pd.read_parquet(tmp_path / "strikes.parquet"), strikes())
    units = {field.name: (field.metadata or {}).get(b"units", b"").decode() for field in table.schema}
    assert units["theta"] == "rad"
    assert units["impulse.heel.normal"] == "N s"
    assert units["v_plus.torso"] == "rad/s"
    assert units["rho"] == "1"
    assert units["xi"] == units["status"] == ""
    assert table.schema.metadata[b"events"].decode() == strikes().attrs["events"]


def test_json(tmp_path: Path):
    """Valid JSON, which knows no NaN; `Dataset.from_dict` reads it."""
    files.write(strikes(), tmp_path / "strikes.json")

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    read = json.loads((tmp_path / "strikes.json").read_text(encoding="utf-8"), parse_constant=refuse)
    assert read["data_vars"]["loss"]["data"][1] == [None, None]
    assert read["coords"]["theta"]["data"][1] is None
    back = xarray.Dataset.from_dict(read)
    assert back.status.dtype.kind == "i"
    xarray.testing.assert_identical(plain(back), plain(strikes()))
    expected = strikes().to_dict()
    assert {key: read[key].keys() if key in ("coords", "data_vars") else read[key] for key in read} == {
        key: expected[key].keys() if key in ("coords", "data_vars") else expected[key] for key in read
    }
    assert read.keys() == expected.keys()


def test_infinity(tmp_path: Path):
    """A row that cannot move has an infinite effective mass: a number in every format."""
    ds = strikes().copy(deep=True)
    ds.effective_mass[0, 0, 0], ds.effective_mass[0, 0, 1] = np.inf, -np.inf
    for suffix in FORMATS:
        files.write(ds, tmp_path / f"ds.{suffix}")
    back = xarray.Dataset.from_dict(json.loads((tmp_path / "ds.json").read_text(encoding="utf-8")))
    xarray.testing.assert_identical(plain(back), plain(ds))
    header, rows = lines(tmp_path / "ds.csv")
    place = header.index("effective_mass.heel.normal [kg]")
    assert [float(cell) for cell in rows[0][place : place + 2]] == [np.inf, -np.inf]
    assert_tidy(pd.read_parquet(tmp_path / "ds.parquet"), ds)


@pytest.mark.parametrize("seed", range(3))
def test_every_number_of_csv_reads_back_as_itself(tmp_path: Path, seed: int):
    rng = np.random.default_rng(seed)
    n = CHUNK + 17  # more than one batch of lines
    ds = xarray.Dataset({"loss": ("sample", rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n))})
    files.write(ds, tmp_path / "ds.csv")
    header, rows = lines(tmp_path / "ds.csv")
    assert header == ["sample", "loss"]
    assert [int(row[0]) for row in rows] == list(range(n))
    assert np.array_equal([float(row[1]) for row in rows], ds.loss.values)


def test_many_lines(tmp_path: Path):
    """More than one batch of lines of a grid: each line has its own parameters."""
    theta, rho = np.linspace(0.1, 1.0, 300), np.linspace(0.0, 0.5, 250)
    ds = gallery.walker().sweep(theta=theta, rho=rho, keep=["loss", "impulse.heel"])
    assert ds.status.size > CHUNK
    for suffix in ("csv", "parquet"):
        files.write(ds, tmp_path / f"ds.{suffix}")
    read = read_csv(tmp_path / "ds.csv")
    for table in (read.rename(columns=lambda name: name.partition(" [")[0]), pd.read_parquet(tmp_path / "ds.parquet")):
        assert np.array_equal(table.theta.to_numpy(), np.repeat(theta, 250))
        assert np.array_equal(table.rho.to_numpy(), np.tile(rho, 300))
        assert np.array_equal(table.loss.to_numpy(), ds.loss.values.ravel())
        assert np.array_equal(table["impulse.heel.tangent"].to_numpy(), ds["impulse.heel"].values[..., 1].ravel())
        assert (table.status == "ok").all()


# Columns


def test_header(tmp_path: Path):
    """Swept parameters in their order, fixed ones, scalars, what lies along a dimension, status; each with its unit."""
    keep = ["loss", "xi", "v_plus", "impulse", "u_plus.stance", "T_c_minus", "q.torso", "dof"]
    files.write(gallery.walker().sweep(rho=[0.1], theta=[0.3], keep=keep), tmp_path / "ds.csv")
    header, _ = lines(tmp_path / "ds.csv")
    assert header[:2] == ["rho [1]", "theta [rad]"]
    fixed = {name.partition(" [")[0] for name in header[2:10]}
    assert fixed == set(gallery.walker().parameters) - {"rho", "theta"}
    assert "m_W [kg]" in header
    assert header[10:] == [
        "loss [J]", "xi", "T_c_minus [J]", "q.torso [rad]", "v_plus.foot_x [m/s]", "v_plus.foot_y [m/s]",
        "v_plus.stance [rad/s]", "v_plus.swing [rad/s]", "v_plus.torso [rad/s]", "impulse.heel.normal [N s]",
        "impulse.heel.tangent [N s]", "impulse.stance.normal [N s]", "impulse.stance.tangent [N s]",
        "u_plus.stance.normal [m/s]", "u_plus.stance.tangent [m/s]", "dof.prior", "dof.virtual", "dof.posterior",
        "status",
    ]  # fmt: skip


@pytest.mark.parametrize("problem", EVENTS)
def test_every_address_of_a_header_is_one_and_has_the_units_of_the_layout(problem: str):
    """Rows and velocities of mixed units included."""
    scenario = getattr(gallery, problem)()
    layout = scenario.event.layout
    found = Columns(scenario.sweep()).columns
    assert len({column.address for column in found}) == len(found)
    for column in found:
        if column.kind == "quantity":
            assert not find(layout, column.address).names
            assert column.unit == unit_of(layout, column.address), column.address


def test_units_of_some_rows_where_others_have_another():
    """Rows of one constraint have one unit, whatever the rest of the event has."""
    ds = gallery.disk_on_moving_plane().sweep(keep=["v_plus", "u_plus", "impulse"])
    assert len(set(ds.velocity_unit.values)) > 1
    for column in Columns(ds).columns:
        if column.address.startswith("v_plus."):
            assert column.unit == ds.velocity_unit.sel(velocity=column.address.removeprefix("v_plus.")).item()


def test_a_number_that_is_kept_twice_has_one_column(tmp_path: Path):
    ds = gallery.walker().sweep(theta=[0.3], keep=["impulse", "impulse.heel.normal", "impulse.heel"])
    files.write(ds, tmp_path / "ds.csv")
    header, _ = lines(tmp_path / "ds.csv")
    assert sum("impulse.heel.normal" in cell for cell in header) == 1


def test_samples_and_batches(tmp_path: Path):
    """Axes without a coordinate tell which one it is."""
    samples = {"theta": [0.3, 0.5], "rho": [0.0, 0.1]}
    files.write(gallery.walker().sweep(samples=samples, mu=[1.0, 2.0], keep=["loss"]), tmp_path / "ds.csv")
    header, rows = lines(tmp_path / "ds.csv")
    assert header[:4] == ["sample", "mu [1]", "theta [rad]", "rho [1]"]
    assert [[float(cell) for cell in row[:4]] for row in rows] == [
        [0, 1, 0.3, 0], [0, 2, 0.3, 0], [1, 1, 0.5, 0.1], [1, 2, 0.5, 0.1],
    ]  # fmt: skip
    t = gallery.walker().solve(theta=[[0.3, 0.4, 0.5]], rho=[[0.1], [0.2]])
    files.write(t.to_dataset(), tmp_path / "t.parquet")
    table = pd.read_parquet(tmp_path / "t.parquet")
    assert table[["axis_0", "axis_1"]].values.tolist() == [[i, j] for i in range(2) for j in range(3)]
    assert np.array_equal(table.loss.to_numpy(), np.ravel(t.loss))


def test_a_single_event_and_none(tmp_path: Path):
    for ds in (gallery.walker().sweep(), gallery.walker().sweep(theta=[])):
        for suffix in FORMATS:
            files.write(ds, tmp_path / f"ds.{suffix}")
        assert_tidy(pd.read_parquet(tmp_path / "ds.parquet"), ds)
        assert len(lines(tmp_path / "ds.csv")[1]) == ds.status.size
        with xarray.open_dataset(tmp_path / "ds.nc") as back:
            assert back.sizes == ds.sizes
        read = json.loads((tmp_path / "ds.json").read_text(encoding="utf-8"))
        assert read["data_vars"]["loss"]["data"] == ds.loss.values.tolist()


def test_what_a_person_took_out(tmp_path: Path):
    """One quantity, one row of it, axes in another order: still one line per event."""
    ds = strikes().sel(row="heel.normal")[["impulse"]].transpose("rho", "theta")
    files.write(ds, tmp_path / "ds.csv")
    header, rows = lines(tmp_path / "ds.csv")
    assert header[:2] == ["rho [1]", "theta [rad]"]
    assert [float(row[header.index("impulse [N s]")]) for row in rows] == pytest.approx(
        ds.impulse.values.ravel(), rel=0, nan_ok=True
    )
    assert {row[header.index("row")] for row in rows} == {"heel.normal"}


# In full or not at all


@pytest.mark.parametrize("suffix", FORMATS)
def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path, suffix: str, monkeypatch):
    path = tmp_path / f"ds.{suffix}"
    path.write_text("old")
    module = files._FORMATS[suffix]
    written = module.write

    def full(ds: xarray.Dataset, part: Path) -> None:
        written(ds, part)
        assert part.parent == path.parent  # so that it can take the path's place at once
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write", full)
    with pytest.raises(jd.CannotWrite, match=rf"ds\.{suffix}' cannot be written: No space left on device\."):
        files.write(strikes(), path)
    monkeypatch.setattr(module, "write", lambda ds, part: (written(ds, part), 1 / 0))
    with pytest.raises(ZeroDivisionError):
        files.write(strikes(), path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "old"
    monkeypatch.undo()
    files.write(strikes(), path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.stat().st_size > 1000


def test_suffix_in_capitals(tmp_path: Path):
    files.write(strikes(), str(tmp_path / "DS.CSV"))
    assert (tmp_path / "DS.CSV").read_text(encoding="utf-8").startswith("theta [rad],rho [1],")


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("ds.xlsx", jd.UnknownName, "There is no file format 'xlsx'; there are: 'nc', 'csv', 'parquet', 'json'"),
        ("ds.jsn", jd.UnknownName, "There is no file format 'jsn'; did you mean 'json'"),
        ("ds", jd.CannotWrite, "has no suffix; .nc, .csv, .parquet, .json, .tex say how it is to be written"),
        ("nowhere/ds.nc", jd.CannotWrite, "nowhere' does not exist; make it first"),
        ("folder.nc", jd.CannotWrite, "folder.nc' is a folder; give the name of a file"),
    ],
)
def test_refused(tmp_path: Path, name: str, kind: type[jd.Error], message: str):
    (tmp_path / "folder.nc").mkdir()
    with pytest.raises(kind) as caught:
        files.check_path(tmp_path / name)
    assert message in str(caught.value)
    with pytest.raises(kind):
        files.write(strikes(), tmp_path / name)
    assert [file.name for file in tmp_path.iterdir()] == ["folder.nc"]


def test_netcdf_has_no_slashes(tmp_path: Path):
    with pytest.raises(jd.CannotWrite, match="netCDF has no name 'loss/J' with a slash"):
        files.write(strikes().rename(loss="loss/J"), tmp_path / "ds.nc")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["x" * 300 + ".nc", "loop.csv", "loop.csv/x.csv", "a/" * 3000 + "x.csv", "a\0b.csv"])
def test_names_that_no_file_can_have(tmp_path: Path, name: str):
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    for act in (files.check_path, lambda path: files.write(strikes(), path)):
        with pytest.raises(jd.CannotWrite, match=r"cannot be written: .*; choose another name") as caught:
            act(tmp_path / name)
        assert len(str(caught.value)) < 500
    assert [file.name for file in tmp_path.iterdir()] == ["loop.csv"]


def test_a_name_as_long_as_it_may_be(tmp_path: Path):
    path = tmp_path / ("x" * 251 + ".csv")
    files.write(strikes(), path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
