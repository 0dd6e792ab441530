"""The instruction list of a CasADi function, in single-assignment form: what the compiler and the interpreter read."""

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
OPERATIONS = frozenset((*UNARY, *BINARY, "input", "const", "select"))


class Step(NamedTuple):
    """One operation. Arguments are the numbers of earlier steps; for "input", which input it is."""

    operation: str
    arguments: tuple[int, ...]
    constant: float = 0.0  # of "const"

    def renumbered(self, number: Mapping[int, int]) -> Step:
        """With the steps it refers to under their new numbers."""
        return self if self.operation == "input" else self._replace(arguments=tuple(number[k] for k in self.arguments))


@dataclass(frozen=True)
class Tape:
    """Steps in an order in which they can be done; `outputs` are numbers of steps."""

    n_inputs: int
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]

    @classmethod
    def of(cls, function: ca.Function) -> Tape:
        """The tape of an SX function with one input column and one dense output column."""
        steps: list[Step] = []
        current: dict[int, int] = {}  # CasADi's work vector → the step that last wrote there
        outputs = [-1] * function.numel_out(0)
        names = _names()
        for k in range(function.n_instructions()):
            code = function.instruction_id(k)
            name = names[code]
            if name == "output":
                outputs[function.instruction_output(k)[1]] = current[function.instruction_input(k)[0]]
                continue
            place = function.instruction_output(k)[0]
            read = function.instruction_input(k)
            if name == "assign":
                current[place] = current[read[0]]
                continue
            if name == "input":
                step = Step(name, (read[1],))
            elif name == "const":
                step = Step(name, (), function.instruction_constant(k))
            elif name in OPERATIONS:
                step = Step(name, tuple(current[i] for i in read))
            else:
                raise NotExpressible(f"The operation '{name}' has no compiled form; rewrite it with elementary ones.")
            current[place] = len(steps)
            steps.append(step)
        return cls(function.numel_in(0), tuple(steps), tuple(outputs)).with_selects().with_shared_reciprocals().pruned()

    def with_selects(self) -> Tape:
        """CasADi spells if_else(c, a, b) as a sum, one side of which is 0; a select says the same in one step."""
        steps = list(self.steps)
        for i, step in enumerate(steps):
            if step.operation != "add":
                continue
            yes, no = (steps[k] for k in step.arguments)
            if yes.operation == no.operation == "if_else_zero":
                (c, a), (d, b) = yes.arguments, no.arguments
                if steps[d] == Step("not", (c,)):
                    steps[i] = Step("select", (c, a, b))
                elif steps[c] == Step("not", (d,)):
                    steps[i] = Step("select", (d, b, a))
        return Tape(self.n_inputs, tuple(steps), self.outputs)

    def with_shared_reciprocals(self) -> Tape:
        """x / √s and y / √s as products with one 1 / √s, which cannot overflow; other quotients stay as they are."""
        steps: list[Step] = []
        number: dict[int, int] = {}  # old → new
        reciprocal: dict[int, int] = {}  # new number of √s → that of 1 / √s
        for i, step in enumerate(self.steps):
            step = step.renumbered(number)
            divisor = step.arguments[-1] if step.operation in ("div", "inv") else -1
            if divisor >= 0 and steps[divisor].operation == "sqrt":
                if divisor not in reciprocal:
                    reciprocal[divisor] = len(steps)
                    steps.append(Step("inv", (divisor,)))
                if step.operation == "inv":
                    number[i] = reciprocal[divisor]
                    continue
                step = Step("mul", (step.arguments[0], reciprocal[divisor]))
            number[i] = len(steps)
            steps.append(step)
        return Tape(self.n_inputs, tuple(steps), tuple(number[i] for i in self.outputs))

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


@cache
def _names() -> dict[int, str]:
    return {getattr(ca, name): name.removeprefix("OP_").lower() for name in dir(ca) if name.startswith("OP_")}
