"""What is printed where the output is not UTF-8: never an exception, no sign lost."""

from __future__ import annotations

import io
import re
import sys

import pytest

import jourdain as jd
from jourdain import gallery
from jourdain.output.printable import FALLBACK, ascii_text, printable

SIGNS = "T_c⁻ − T⁺ = ½ ‖v‖² … κ ≤ 1, ξ → ∞, Ŷ, ẋ, 30°, Kövecses, 中"


@pytest.fixture(params=["cp1252", "ascii", "latin-1", "cp437", "shift_jis"])
def narrow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> io.TextIOWrapper:
    """A standard output in an encoding that lacks signs."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=request.param)
    monkeypatch.setattr(sys, "stdout", stream)
    return stream


def test_signs_in_letters(narrow: io.TextIOWrapper) -> None:
    print(printable(SIGNS))
    assert all(letter.isascii() for letter in ascii_text(SIGNS))
    assert ascii_text("κ ≤ −1") == "kappa <= -1"
    assert ascii_text("Ω λ ẋ") == "Omega lambda x"


def test_what_the_output_has_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="cp1252"))
    assert printable("30° ± 1") == "30° ± 1"
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    assert printable(SIGNS) == SIGNS
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert printable(SIGNS) == SIGNS
    assert SIGNS.encode("ascii", FALLBACK) == ascii_text(SIGNS).encode()


def test_every_kind_of_answer_prints(narrow: io.TextIOWrapper) -> None:
    walker = gallery.walker()
    bed = jd.experiment.Testbed(gallery.pantograph(), push=0.5)
    strike = jd.experiment.read(bed.run(gamma=0.5).record(seed=1).frame(), gallery.pantograph()).strike()
    answers = (walker.solve(), walker, walker.event, walker.phases(), strike, strike.compare(),
               jd.experiment.average([strike, strike]),
               gallery.sleigh("landing").event.symbolic(), jd.BadEvent(SIGNS), jd.UnknownName(SIGNS))  # fmt: skip
    for answer in answers:
        print(answer)
        print(repr(answer))


def test_numbers_keep_their_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The signed numbers of the text are the same in both encodings."""
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    full = str(gallery.walker().solve())
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    plain = str(gallery.walker().solve())
    assert re.findall(r"-?\d[\d.]*", full.replace("−", "-")) == re.findall(r"-?\d[\d.]*", plain)
    assert "-" in plain
