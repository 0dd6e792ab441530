"""Robot files that MuJoCo's parser does not survive: refused in one sentence, and the process goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import jourdain as jd
from jourdain.robots import isolated
from jourdain.robots.limits import MOST_ELEMENTS, check_limits

BODY = '<body name="b"><joint name="j" type="hinge" damping="1"/><geom size=".1"/></body>'


def mjcf(world: str = BODY, before: str = "") -> str:
    return f"<mujoco>{before}<worldbody>{world}</worldbody></mujoco>"


def attaches(file: str, times: int = 1) -> str:
    attached = "".join(f'<attach model="x" body="b" prefix="p{i}"/>' for i in range(times))
    return mjcf(f'<body name="b">{attached}</body>', f'<asset><model name="x" file="{file}"/></asset>')


def replicated(count: str, depth: int = 1) -> str:
    return mjcf(f'<replicate count="{count}" offset="1 0 0">' * depth + BODY + "</replicate>" * depth)


REFUSED = {
    "attaches itself": ({"r.xml": attaches("r.xml")}, "attaches or includes itself"),
    "in a circle": ({"r.xml": attaches("s.xml"), "s.xml": attaches("r.xml")}, "attaches or includes itself"),
    "by an include": (
        {"r.xml": '<mujoco><include file="s.xml"/></mujoco>', "s.xml": attaches("r.xml")},
        "attaches or includes itself",
    ),
    "ever more": (
        {f"{'r' if i == 0 else f's{i}'}.xml": attaches(f"s{i + 1}.xml", 4) for i in range(12)} | {"s12.xml": mjcf()},
        "elements with what it replicates and attaches",
    ),
    "replicate": ({"r.xml": replicated("1000000000")}, "at <replicate>"),
    "replicate as 1e9": ({"r.xml": replicated("1e9")}, "at <replicate>"),
    "replicates of replicates": ({"r.xml": replicated("100", 5)}, "elements with what it replicates"),
    "replicate in an include": (
        {"r.xml": '<mujoco><include file="s.xml"/></mujoco>', "s.xml": replicated("99999999")},
        "at <replicate>",
    ),
    "composite": ({"r.xml": mjcf('<body><composite type="cable" count="100000000 1 1"/></body>')}, "at <composite>"),
    "flexcomp": ({"r.xml": mjcf('<body><flexcomp type="grid" count="9999 9999 9999"/></body>')}, "at <flexcomp>"),
    "nkey": ({"r.xml": mjcf(before='<size nkey="2000000000"/>')}, "nkey="),
    "nuser_geom": ({"r.xml": mjcf(before='<size nuser_geom="2000000000"/>')}, "nuser_geom="),
    "nuserdata": ({"r.xml": mjcf(before='<size nuserdata="2000000000"/>')}, "nuserdata="),
    "hfield": ({"r.xml": mjcf(before='<asset><hfield nrow="99999" ncol="99999"/></asset>')}, "nrow="),
    "hfield of gigabytes": ({"r.xml": mjcf(before='<asset><hfield nrow="30000" ncol="30000"/></asset>')}, "nrow="),
    "mesh made of params": (
        {"r.xml": mjcf(before='<asset><mesh name="m" builtin="cone" params="100000000 .5"/></asset>')},
        "params=",
    ),
    "lengths of muscles": (
        {"r.xml": mjcf(before='<compiler><lengthrange inttotal="1e9" timestep="1e-9"/></compiler>')},
        "inttotal=",
    ),
    "user data of many": (
        {"r.xml": mjcf('<replicate count="9999">' + BODY + "</replicate>", '<size nuser_body="99999"/>')},
        "nuser_body=",
    ),
    "texture": ({"r.xml": mjcf(before='<asset><texture width="99999" height="99999"/></asset>')}, "width="),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_recognised_is_refused(case: str, tmp_path: Path):
    texts, message = REFUSED[case]
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(jd.BadRobot, match=message):
        jd.load(tmp_path / "r.xml")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs here")
@pytest.mark.parametrize(
    "text",
    [
        '<mujoco><include file="pipe"/></mujoco>',
        attaches("pipe"),
        mjcf('<body><joint/><geom type="mesh" mesh="m"/></body>', '<asset><mesh name="m" file="pipe"/></asset>'),
        mjcf(before='<compiler strippath="true"/><asset><mesh name="m" file="a/b/pipe"/></asset>'),
        mjcf(before='<compiler strippath="true"/><asset><mesh name="m" file="a\\b\\pipe"/></asset>'),
        mjcf(before='<compiler meshdir="."/><asset><hfield name="h" file="pipe" size="1 1 1 1"/></asset>'),
    ],
)
def test_files_that_never_end_are_refused(text: str, tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "r.xml").write_text(text)
    for file in ("r.xml", "pipe"):
        with pytest.raises(jd.BadRobot, match="is no regular file"):
            jd.load(tmp_path / file)


@pytest.mark.parametrize("kind", ["hfield", "texture"])
def test_small_files_of_huge_pictures_are_refused(kind: str, tmp_path: Path):
    """A picture of one colour with 10⁹ pixels is a megabyte of PNG; its head says how large it is."""
    head = b"\x89PNG\r\n\x1a\n" + (13).to_bytes(4, "big") + b"IHDR" + 2 * (30_000).to_bytes(4, "big")
    (tmp_path / "p.png").write_bytes(head + b"\x08\0\0\0\0")
    (tmp_path / "r.xml").write_text(mjcf(before=f'<asset><{kind} name="p" file="p.png"/></asset>'))
    with pytest.raises(jd.BadRobot, match="has 30000 by 30000 pixels"):
        jd.load(tmp_path / "r.xml")


def test_a_huge_file_is_refused(tmp_path: Path):
    with (tmp_path / "r.xml").open("wb") as file:
        file.truncate(1 << 40)  # takes no room on the disk
    with pytest.raises(jd.BadRobot, match="more than 256 MiB"):
        jd.load(tmp_path / "r.xml")


def test_a_model_with_a_flex_is_read(tmp_path: Path):
    flex = '<flexcomp name="f" type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1" radius=".01"/>'
    (tmp_path / "r.xml").write_text(mjcf(BODY + f'<body name="a">{flex}</body>'))
    with pytest.warns(jd.RobotWarning, match="flex"):
        robot = jd.load(tmp_path / "r.xml")
    assert robot.ignored["flexes"] == ("f",)


def test_what_is_large_but_sound_passes(tmp_path: Path):
    (tmp_path / "r.xml").write_text(replicated("50"))
    assert len(jd.load(tmp_path / "r.xml", fixed=()).symbols.v_names) == 50
    (tmp_path / "s.xml").write_text(replicated(str(MOST_ELEMENTS // 5)))  # four elements a piece
    check_limits(tmp_path / "s.xml")
    (tmp_path / "t.xml").write_text(attaches("u.xml", 3))
    (tmp_path / "u.xml").write_text(mjcf())
    check_limits(tmp_path / "t.xml")


# In a child process


@pytest.mark.parametrize("floating", [False, True])
def test_isolated_is_the_same_robot(floating: bool, tmp_path: Path):
    (tmp_path / "r.xml").write_text(mjcf('<body name="a"><geom size=".1"/>' + BODY + "</body>"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ours, theirs = (jd.load(tmp_path / "r.xml", floating, isolated=how) for how in (False, True))
    assert len({str(one.message) for one in caught}) == 1  # of damping, once for each
    assert len(caught) == 2
    assert ours.symbols.q_names == theirs.symbols.q_names
    for one, other in zip(ours.description.bodies, theirs.description.bodies, strict=True):
        assert one.name == other.name
        assert one.mass == other.mass
        np.testing.assert_array_equal(one.inertia, other.inertia)


def test_isolated_raises_the_same_errors(tmp_path: Path):
    (tmp_path / "r.xml").write_text("<mujoco><nothing/></mujoco>")
    said = []
    for how in (False, True):
        with pytest.raises(jd.BadRobot) as caught:
            jd.load(tmp_path / "r.xml", isolated=how)
        said.append(str(caught.value))
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("act", "message"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "MuJoCo's parser ends with SIGSEGV"),
        ("import os; os.abort()", "MuJoCo's parser ends with SIGABRT"),
        ("import os; os._exit(3)", "MuJoCo's parser ends with exit code 3"),
        ("import time; time.sleep(60)", "is not read after"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_parser_that_crashes_or_hangs_leaves_the_caller_alive(act: str, message: str, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(isolated, "LIMIT_S", 3.0)
    monkeypatch.setattr(isolated, "_CHILD", act + " #{path}")
    with pytest.raises(jd.BadRobot, match=message):
        jd.load(tmp_path / "r.xml", isolated=True)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited so on Linux")
def test_memory_of_the_child_is_limited(tmp_path: Path, monkeypatch):
    (tmp_path / "r.xml").write_text(mjcf(before='<size nuserdata="99999999" nuser_body="99999"/>'))
    monkeypatch.setattr(isolated, "LIMIT_BYTES", 1)
    with pytest.raises(jd.BadRobot):
        jd.load(tmp_path / "r.xml", isolated=True)


def test_the_command_line_reads_robots_in_a_child(tmp_path: Path):
    """A parser that ends its process is one sentence there."""
    (tmp_path / "r.xml").write_text(mjcf())
    code = (
        "import sys; from jourdain.robots import isolated; isolated._CHILD = 'import os; os.abort() #{path}'; "
        f"sys.argv[1:] = ['run', 'touchdown', '--robot', {str(tmp_path / 'r.xml')!r}]; "
        "from jourdain.cli.main import main; main()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 2
    assert "MuJoCo's parser ends with" in result.stderr
    assert "Traceback" not in result.stderr
