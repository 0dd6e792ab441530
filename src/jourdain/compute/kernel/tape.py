"""The instruction list of a CasADi function, in single-assignment form: what the compiler reads."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import casadi as ca

from jourdain.errors import NotExpressible

# Operations by the name of CasADi's opcode in lower case; how many arguments each takes.
UNARY = ("neg", "exp", "log", "sqrt", "sq", "twice", "inv", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
         "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "fabs", "sign", "erf", "log1p", "expm1",
         "not")  # fmt: skip
BINARY = ("add", "sub", "mul", "div", "pow", "constpow", "lt", "le", "eq", "ne", "and", "or", "fmod", "remainder",
          "copysign", "fmin", "fmax", "atan2", "hypot", "if_else_zero")  # fmt: skip
OPERATIONS = frozenset((*UNARY, *BINARY, "input", "const", "select", "rsqrt"))


class Step(NamedTuple):
    """One operation. Arguments are the numbers of earlier steps; for "input", which input it is."""

    operation: str
    arguments: tuple[int, ...]
    constant: float = 0.0  # of "const"

    def renumbered(self, number: Mapping[int, int]) -> Step:
        """With the steps it refers to under their new numbers."""
        if not self.arguments or self.operation == "input":
            return self
        return Step(self.operation, tuple(map(number.__getitem__, self.arguments)), self.constant)


@dataclass(frozen=True)
class Tape:
    """Steps in an order in which they can be done; `outputs` are numbers of steps."""

    n_inputs: int
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]

    @classmethod
    def of(cls, function: ca.Function) -> Tape:
        """The tape of an SX function with one input column and one dense output column."""
        writer = _Writer()
        current: dict[int, int] = {}  # CasADi's work vector → the step that last wrote there
        outputs = [-1] * function.numel_out(0)
        names = _names()
        for k in range(function.n_instructions()):
            name = names[function.instruction_id(k)]
            read = function.instruction_input(k)
            if name == "output":
                outputs[function.instruction_output(k)[1]] = current[read[0]]
                continue
            place = function.instruction_output(k)[0]
            if name == "assign":
                current[place] = current[read[0]]
            elif name == "input":
                current[place] = writer.step(Step(name, (read[1],)))
            elif name == "const":
                current[place] = writer.constant(function.instruction_constant(k))
            elif name in OPERATIONS:
                current[place] = writer.operation(name, *(current[i] for i in read))
            else:
                raise NotExpressible(f"The operation '{name}' has no compiled form; rewrite it with elementary ones.")
        return cls(function.numel_in(0), tuple(writer.steps), tuple(outputs)).pruned()

    def pruned(self) -> Tape:
        """Without steps that nothing depends on."""
        used = set(self.outputs)
        for i in reversed(range(len(self.steps))):
            if i in used and self.steps[i].operation != "input":
                used.update(self.steps[i].arguments)
        number: dict[int, int] = {}
        kept: list[Step] = []
        for i in sorted(used):
            step = self.steps[i]
            number[i] = len(kept)
            kept.append(step.renumbered(number))
        return Tape(self.n_inputs, tuple(kept), tuple(number[i] for i in self.outputs))

    @property
    def n_operations(self) -> int:
        """Steps that compute something."""
        return sum(step.operation not in ("input", "const") for step in self.steps)

    def content(self) -> bytes:
        """Everything that decides what the tape computes."""
        steps = (f"{step.operation}{step.arguments}{struct.pack('<d', step.constant).hex()}" for step in self.steps)
        return "\n".join([f"{self.n_inputs}", *steps, f"{self.outputs}"]).encode()


class _Writer:
    """Steps written one after the other, each once, in the form that is cheapest to compute."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._numbers: dict[tuple[str, tuple[int, ...], bytes], int] = {}

    def step(self, step: Step) -> int:
        """The number of a step, which may have been written before."""
        arguments = tuple(sorted(step.arguments)) if step.operation in ("add", "mul") else step.arguments
        key = (step.operation, arguments, struct.pack("<d", step.constant))
        if key not in self._numbers:
            self._numbers[key] = len(self.steps)
            self.steps.append(step)
        return self._numbers[key]

    def constant(self, number: float) -> int:
        return self.step(Step("const", (), number))

    def operation(self, name: str, *arguments: int) -> int:
        if name == "add":
            return self._sum(*arguments)
        if name in ("div", "inv"):
            return self._quotient(name, arguments)
        if name in ("sin", "cos"):
            return self._of_angle(name, arguments[0])
        return self.step(Step(name, arguments))

    def _sum(self, one: int, other: int) -> int:
        """CasADi spells if_else(c, a, b) as a sum, one side of which is 0; a select says the same in one step."""
        yes, no = self.steps[one], self.steps[other]
        if yes.operation == no.operation == "if_else_zero":
            (c, a), (d, b) = yes.arguments, no.arguments
            if self.steps[d] == Step("not", (c,)):
                return self.step(Step("select", (c, a, b)))
            if self.steps[c] == Step("not", (d,)):
                return self.step(Step("select", (d, b, a)))
        return self.step(Step("add", (one, other)))

    def _quotient(self, name: str, arguments: tuple[int, ...]) -> int:
        """x / √s and y / √s as products with one 1 / √s, which cannot overflow; other quotients stay as they are."""
        divisor = self.steps[arguments[-1]]
        if divisor.operation != "sqrt":
            return self.step(Step(name, arguments))
        reciprocal = self.step(Step("rsqrt", divisor.arguments))
        return reciprocal if name == "inv" else self.step(Step("mul", (arguments[0], reciprocal)))

    def _of_angle(self, name: str, angle: int) -> int:
        """sin(−x) = −sin x, cos(−x) = cos x: legs at opposite angles share their calls."""
        inner = self._without_sign(angle)
        if inner is None:
            return self.step(Step(name, (angle,)))
        value = self.step(Step(name, (inner,)))
        return value if name == "cos" else self.step(Step("neg", (value,)))

    def _without_sign(self, i: int) -> int | None:
        """x for −x, which may be spelled as a product with a negative number; None for others."""
        step = self.steps[i]
        if step.operation == "neg":
            return step.arguments[0]
        if step.operation == "mul":
            for factor, other in (step.arguments, step.arguments[::-1]):
                if self.steps[factor].operation == "const" and self.steps[factor].constant < 0:
                    return self.step(Step("mul", (self.constant(-self.steps[factor].constant), other)))
        return None


@cache
def _names() -> dict[int, str]:
    return {getattr(ca, name): name.removeprefix("OP_").lower() for name in dir(ca) if name.startswith("OP_")}
