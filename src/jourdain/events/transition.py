"""The outcome of an event: every quantity named, energy booked to the joule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jourdain.algebra.contacts.held import IDLE
from jourdain.data.layout import Layout
from jourdain.errors import BadEvent, Status, listing
from jourdain.inputs import Array, FilePath, Flags, Statuses, named_values
from jourdain.kinds import ON_KINDS, ContactState, Kind
from jourdain.naming import Named
from jourdain.output.printable import prints
from jourdain.quantities import QUANTITIES, SCALARS

if TYPE_CHECKING:
    import xarray

    from jourdain.algebra.contacts.path import ImpulsePath
    from jourdain.events.event import Event


class DegreesOfFreedom(NamedTuple):
    """How many independent velocities each phase has; integers, or arrays `(*batch,)`."""

    prior: Any
    virtual: Any
    posterior: Any


class Transition:
    """One outcome, or a batch of them.

    Sign: `M @ (v_plus - v_minus) == C.T @ impulse + applied`; rows are `u = C @ v + b`. Numbers are plain arrays with
    the batch shape in front: `v_plus` `(*batch, n_v)`, `velocity_plus["theta"]` `(*batch,)`, `impulse["blade"]`
    `(*batch,)` for a constraint written as one expression, else `(*batch, k)`; `impulse["foot.normal"]` picks a row.
    """

    def __init__(self, layout: Layout, values: Mapping[str, Array], status: Statuses) -> None:
        """`values`: what an `Outcome` keeps, by name, `(*batch, rows, columns)`; NaN where the status says so."""
        self.layout = layout
        self._values = values
        self._status = status
        if isinstance(status, np.ndarray):
            status.flags.writeable = False  # a record is read, not written

    def column(self, name: str) -> Array:
        """A number that the outcome keeps, by its name in `algebra.record.Outcome`, `(*batch, rows)`."""
        column = self._values[name][..., 0]
        column.flags.writeable = False
        return column

    def matrix(self, name: str) -> Array:
        """The same where it is a matrix, `(*batch, rows, columns)`."""
        return self._values[name]

    def _number(self, name: str) -> Array:
        return self.column(name)[..., 0]

    # The next event

    def then(
        self, event: Event, check: bool | str = True, parameters: Mapping[str, Any] = {}, **more: ArrayLike
    ) -> Transition:
        """The outcome of the next event at the same instant: at this q, with this `v_plus` as its v⁻.

        Parameters are given as to `event.solve`; the event does not know those of this outcome. In a batch a lane that
        has no numbers keeps its status. What rounding of this outcome leaves along the rows of the next is taken away:
        a body that is caught may be released. Newton's cradle, one collision after the other:

        >>> import jourdain as jd
        >>> balls = jd.gallery.cradle().event.mechanism
        >>> elastic = jd.laws.Frictionless(1.0)
        >>> first, second = (balls.event(contacts={name: elastic}) for name in ("touch_1", "touch_2"))
        >>> place = {"x_2": 0.04, "x_3": 0.08}
        >>> first.solve(place, {"x_1": 1.0}).then(second).v_plus.round(9) + 0.0
        array([0., 0., 1.])
        """
        ours = (self.layout.coordinates, self.layout.velocities)
        theirs = (event.layout.coordinates, event.layout.velocities)
        for what, have, want in zip(("coordinates", "velocities"), ours, theirs, strict=True):
            if have != want:
                raise BadEvent(
                    f"The next event is one of another mechanism: its {what} are {listing(want)}, "
                    f"those of this outcome {listing(have)}."
                )
        v = self.v_plus
        if check is True:
            v = event.without_rounding(self.q, v, self._energies(), {**named_values("parameters", parameters), **more})
        following = event.solve(self.q, v, check, parameters, **more)
        return following.judged(lambda status: np.where(self._status > Status.ENERGY_CREATED, self._status, status))

    def _energies(self) -> Array:
        """Those of the motions before and after, and of what each impulse alone would cause, `(*batch,)`."""
        impulses = np.nansum(self.column("impulse") ** 2 * self.column("row_length2"), axis=-1) / 2
        return np.asarray(self.T_minus + self.T_plus + impulses)

    # Status

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self._status.shape

    @property
    def status(self) -> Any:
        """`jd.Status`, or an int8 array of them in a batch."""
        return Status(int(self._status)) if self.batch_shape == () else self._status

    @property
    def ok(self) -> Any:
        """Whether there is nothing to say against the outcome: bool, or a bool array in a batch."""
        return bool(self._status == Status.OK) if self.batch_shape == () else self._status == Status.OK

    def judged(self, judge: Callable[[Statuses], Statuses]) -> Transition:
        """The same outcome with another status."""
        return Transition(self.layout, self._values, judge(self._status))

    # State

    @property
    def q(self) -> Array:
        """The configuration, `(*batch, n_q)`; that found, where coordinates were guessed or projected."""
        return self.column("q")

    @property
    def coordinate(self) -> Named[Array]:
        return self._by_name("coordinate", self.layout.coordinates, self.q)

    @property
    def v_minus(self) -> Array:
        """Generalized velocities before, `(*batch, n_v)`."""
        return self.column("v_minus")

    @property
    def v_plus(self) -> Array:
        """Generalized velocities after, `(*batch, n_v)`."""
        return self.column("v_plus")

    @property
    def velocity_minus(self) -> Named[Array]:
        return self._by_name("velocity", self.layout.velocities, self.v_minus)

    @property
    def velocity_plus(self) -> Named[Array]:
        return self._by_name("velocity", self.layout.velocities, self.v_plus)

    @property
    def outputs_minus(self) -> Named[Array]:
        return self._by_name("output", self.layout.outputs, self.column("outputs_minus"))

    @property
    def outputs_plus(self) -> Named[Array]:
        return self._by_name("output", self.layout.outputs, self.column("outputs_plus"))

    @property
    def outputs(self) -> Named[Array]:
        """The named outputs after the event."""
        return self.outputs_plus

    # Rows

    @property
    def u_minus(self) -> Named[Array]:
        """C v⁻ + b⁻ of every constraint, released ones included."""
        return self._by_row(self.column("u_minus"))

    @property
    def u_plus(self) -> Named[Array]:
        """C v⁺ + b⁺ of every constraint, released ones included."""
        return self._by_row(self.column("u_plus"))

    @property
    def impulse(self) -> Named[Array]:
        """λ̄ along each row: 0 for released rows, the given impulse for nonideal ones."""
        return self._by_row(self.column("impulse"))

    @property
    def Lambda(self) -> Named[Array]:
        """Λ̄: what the rows that are on see of the nonideal impulses. λ̄ + Λ̄ does not depend on them."""
        return self._by_row(self.column("Lambda"))

    @property
    def effective_mass(self) -> Named[Array]:
        """The mass that an impulse along each row alone meets while the regular rows hold; inf where it cannot move."""
        return self._by_row(self.column("effective_mass"))

    @property
    def required_friction(self) -> Named[Array]:
        """|tangential| / normal impulse of each contact: what friction must reach not to slip; inf if it pulls."""
        return self._by_name("contact", self.layout.contacts, self.column("required_friction"))

    @property
    def contact(self) -> Named[Any]:
        """What became of each one-sided contact: a `ContactState`; in a batch an array of their numbers."""
        names = self.layout.along("one_sided")
        states = self.column("contact_state")
        if self.batch_shape == ():
            return Named("one-sided contact", {name: ContactState(int(states[i])) for i, name in enumerate(names)})
        return self._by_name("one-sided contact", names, states)

    @property
    def contact_name(self) -> Named[Any]:
        """The same as words, as in "slips"; in a batch an array of them. "" where the event has no outcome."""
        names = self.layout.along("one_sided")
        words = np.array([*map(str, ContactState), ""])
        states = self.column("contact_state")
        found = words[np.where(np.isfinite(states), states, -1).astype(int)]
        return self._by_name("one-sided contact", names, found)

    @property
    def candidates(self) -> Any:
        """The consistent ways in which contacts can hold, each {contact: what it does}: a tuple of dicts.

        In a batch an object array of such tuples. Listed where a contact has the law `NoSlip`, else empty; a contact
        that opens before the event is left alone and not named. `NoSlip(prefer=…)` chooses among them.
        """
        consistent, states = self.column("contact_candidates") > 0, self.column("contact_state")
        if self.batch_shape == ():
            return self.layout.candidates(consistent, states)
        found = np.empty(self.batch_shape, dtype=object)
        for sample in np.ndindex(self.batch_shape):
            found[sample] = self.layout.candidates(consistent[sample], states[sample])
        return found

    @property
    def restitution(self) -> Named[Array]:
        """The restitution used, of each one-sided contact; NaN for laws that have none."""
        return self._by_name("one-sided contact", self.layout.along("one_sided"), self.column("restitution"))

    @property
    def slip_direction(self) -> Named[Array]:
        """Where each contact slips after the event: the unit vector along its tangents, `(*batch, n_tangents)`.

        NaN where it does not touch any more, sticks, or has no tangents.
        """
        found = {}
        for c in self.layout.constraints:
            if not c.contact:
                continue
            u_t = self.u_plus[c.name][..., 1:]
            speed = np.sqrt(np.sum(u_t * u_t, axis=-1, keepdims=True))
            slips = speed > IDLE * np.sqrt(2 * np.abs(self.T_minus[..., None]) * self._tangent_length2(c.name))
            if c.kind == Kind.CONTACT:
                slips &= np.isin(self.contact[c.name], _PUSHING)[..., None]
            found[c.name] = np.where(slips, u_t / np.where(slips, speed, 1.0), np.nan)
        return Named("contact", found)

    def _tangent_length2(self, contact: str) -> Array:
        """The largest c M⁻¹ cᵀ of a contact's tangential rows, `(*batch, 1)`; 0 if it has none."""
        lengths2 = self.column("row_length2")[..., self.layout.slices[contact]][..., 1:]
        return np.asarray(np.max(lengths2, axis=-1, keepdims=True, initial=0.0))

    def path(self, contact: str) -> ImpulsePath:
        """What a contact with friction inside the event did while its normal impulse grew."""
        from jourdain.algebra.contacts.path import check_path, path_in_space, planar_path

        check_path(self, contact)
        place = self.layout.along("one_sided").index(contact)
        if len(self.u_minus[contact]) > 2:
            return path_in_space(self, contact, self.column("contact_asked"))
        ends = (float(self.column(name)[place]) for name in ("compression_end", "slip_end", "slip_impulse"))
        return planar_path(self, contact, *ends)

    # Energy: filled in below from the table of quantities

    T_minus: Array
    T_plus: Array
    T_c_minus: Array
    T_a_minus: Array
    T_r_minus: Array
    T_c_plus: Array
    T_a_plus: Array
    T_r_plus: Array
    xi: Array
    loss: Array
    drive_work: Array
    dissipated: Array
    energy_created: Array

    @cached_property
    def ledger(self) -> Named[Array]:
        """The work of each impulse in J, by constraint and "impulse <name>"; the sum is T_plus − T_minus.

        A contact with friction inside the event has three: "foot compression", "foot restitution", "foot friction",
        and "foot support" if that moves; one with friction on the velocity after has two, "foot" for its normal and
        "foot friction".

        Where redundant constraints share an impulse only the sum over the group is determined: it is booked to
        the group, "a + b".
        """
        from jourdain.events.ledger import ledger

        return ledger(self)

    # Rank

    @property
    def dof(self) -> DegreesOfFreedom:
        """Degrees of freedom before, during and after."""
        counts = np.moveaxis(self.column("dof"), -1, 0)  # NaN where a lane failed
        return DegreesOfFreedom(*(int(c) if self.batch_shape == () else c for c in counts))

    @property
    def redundant(self) -> Any:
        """Rows that depend on those before them: a tuple of names; in a batch, name → bool array."""
        return self._flagged(self.column("redundant") > 0)

    @property
    def undetermined(self) -> Any:
        """Rows whose impulse rigid bodies do not determine: a tuple of names; in a batch, name → bool array."""
        from jourdain.events.ledger import undetermined

        return self._flagged(undetermined(self))

    @property
    def one_of_many(self) -> Any:
        """Whether the motion itself rests on a choice: bool, or a bool array in a batch.

        Contacts by Poisson's law that share an impulse of compression in many ways, and have different κ, give back
        differently as it is shared; the least impulses are taken.
        """
        flag = self._values["contact_one_of_many"][..., 0, 0] > 0
        return bool(flag) if self.batch_shape == () else flag

    @property
    def impulse_nullspace(self) -> Array:
        """Impulses that change nothing: the columns span the λ̄ with C'ᵀλ̄ = 0, `(rows that are on, nullity)`.

        In a batch `(*batch, rows, columns)`, where columns that a lane does not need are zero.
        """
        null = self._values["nullspace"]
        used = np.any(np.nan_to_num(null) != 0, axis=tuple(range(null.ndim - 1)))
        return null[..., used]

    def _flagged(self, flags: Flags) -> Any:
        """The rows that are on and those of one-sided contacts, where flagged."""
        rows = [row for row in self.layout.rows if row.kind in (*ON_KINDS, Kind.CONTACT)]
        if self.batch_shape == ():
            return tuple(row.name for i, row in enumerate(rows) if flags[i])
        return {row.name: flags[..., i] for i, row in enumerate(rows) if flags[..., i].any()}

    # Out

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts and arrays, by the names of the fields."""
        fields: dict[str, Any] = {"q": self.q, "v_minus": self.v_minus, "v_plus": self.v_plus}
        fields |= {name: getattr(self, name) for name in SCALARS}
        for name in _MAPPINGS:
            fields[name] = dict(getattr(self, name))
        rank = {"redundant": self.redundant, "undetermined": self.undetermined, "dof": self.dof._asdict()}
        return fields | rank | {"status": self.status, "ok": self.ok}

    def to_dataset(self) -> xarray.Dataset:
        """Labelled: scalars by name, velocities along `velocity`, rows along `row`, with units and long names."""
        from jourdain.data.dataset import dataset, kept

        axes = tuple(f"axis_{i}" for i in range(len(self.batch_shape)))
        return dataset(self.layout, kept(self.layout, None), self._values, self._status, axes).copy(deep=True)

    def report(self, path: FilePath, title: str = "") -> None:
        """Write one page of HTML that needs nothing else: what was asked, the outcome, figures.

        The page of `Scenario.report` has more, since a scenario knows its model and its parameters.

        Parameters
        ----------
        path : str or Path
            Where to write it; it ends in .html. The file is there in full or not at all.
        title : str
            The title of the page.

        Raises
        ------
        ShapeError
            If this is a batch: a report shows one event. Solve the one that you want to show by itself.
        CannotWrite
            If no such file can be written.

        """
        from jourdain.reports.events import transition_report
        from jourdain.reports.template import check_page, write_page

        check_page(path)
        write_page(transition_report(self, title).html(), path)

    def latex(self, degrees: bool = False, digits: int = 5) -> str:
        r"""The tables of the outcome in LaTeX, with the rules of the package booktabs.

        Parameters
        ----------
        degrees
            Show angles and their rates in degrees; else radians.
        digits
            Significant digits of the numbers.

        Returns
        -------
        str
            A `tabular` for velocities, one for rows, one for energies; of a batch, one with a line per event.

        Raises
        ------
        BadArgument
            Of a batch, if it has more events than a page holds.

        Examples
        --------
        >>> import jourdain as jd
        >>> print(jd.gallery.particle().solve().latex().split("\n\n")[1])
        \begin{tabular}{lrrrr}
        \toprule
        row & kind & $u$ before & $u$ after & impulse ($\mathrm{N\,s}$) \\
        \midrule
        floor ($\mathrm{m/s}$) & elastic & $-3$ & $1.8$ & $4.8$ \\
        \bottomrule
        \end{tabular}

        """
        if self.batch_shape:
            from jourdain.data.latex import table

            return table(self.to_dataset(), degrees=degrees, digits=digits)
        from jourdain.events.table import for_paper

        return for_paper(self, degrees, digits)

    @prints
    def __str__(self) -> str:
        from jourdain.events.table import text

        return text(self)

    @prints
    def __repr__(self) -> str:
        return f"<Transition {self.batch_shape if self.batch_shape else self.status.name}>"

    def _repr_html_(self) -> str:
        from jourdain.events.table import page

        return page(self)

    def _by_name(self, what: str, names: tuple[str, ...], array: Array) -> Named[Array]:
        return Named(what, {name: array[..., i][()] for i, name in enumerate(names)})

    def _by_row(self, array: Array) -> Named[Array]:
        values: dict[str, Array] = {}
        aliases: dict[str, Array] = {}
        for c in self.layout.constraints:
            rows = array[..., self.layout.slices[c.name]]
            values[c.name] = rows[..., 0][()] if c.scalar else rows
            aliases |= {row: rows[..., i][()] for i, row in enumerate(c.rows) if not c.scalar}
            if c.contact and len(c.rows) > 2:
                aliases[f"{c.name}.tangent"] = rows[..., 1:]
        return Named("constraint or row", values, aliases)


_PUSHING = [ContactState.HOLDS, ContactState.STICKS, ContactState.SLIPS, ContactState.REVERSES]
_MAPPINGS = ("coordinate", "velocity_minus", "velocity_plus", "outputs_minus", "outputs_plus", "u_minus", "u_plus",
             "impulse", "Lambda", "effective_mass", "required_friction", "restitution", "ledger")  # fmt: skip


def _scalar(name: str) -> property:
    def read(self: Transition) -> Array:
        return self._number(name)[()]  # a plain number without batch axes

    quantity = QUANTITIES[name]
    read.__doc__ = (
        f"{quantity.symbol}: {quantity.long_name}{f', {quantity.unit}' if quantity.unit else ''}, `(*batch,)`."
    )
    return property(read)


for _name in SCALARS:
    setattr(Transition, _name, _scalar(_name))
