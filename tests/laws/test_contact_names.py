"""What became of a contact, as a word."""

from __future__ import annotations

import numpy as np

import jourdain as jd
from jourdain.laws import ContactState


def test_names_are_those_of_the_states() -> None:
    walker = jd.gallery.walker(rear_foot="one-sided")
    for theta, word in ((0.7, "lifts"), (0.9, "holds")):
        assert walker.solve(theta=theta, rho=0.0).contact_name["stance"] == word
    for n in (3, 2000):
        t = walker.solve(theta=np.linspace(0.3, 1.3, n), rho=0.0)
        assert t.contact_name["stance"].shape == (n,)
        assert [str(ContactState(int(state))) for state in t.contact["stance"]] == list(t.contact_name["stance"])


def test_an_event_without_an_outcome_has_no_word() -> None:
    t = jd.gallery.rough_rod().solve(friction=np.array([0.3, -1.0]))
    assert list(t.contact_name["floor"] == "") == [False, True]
