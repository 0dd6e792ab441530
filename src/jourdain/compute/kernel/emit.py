"""A tape as LLVM IR: one lane per event, the whole tape as straight-line vector code inside one loop.

    void run(i64 start, i64 stop, Input *inputs, double *table, i64 stride, i8 *flags, i64 flag_stride)

computes lanes [start, stop), rounded up to whole vectors: rows of the tables are that long. Input i of lane k is
`data[((k / repeat) % size) * step]`, which covers arrays, numbers and the axes of a grid without copying them out.
Lanes are done in blocks, whose inputs are laid out in a small buffer first.
"""

from __future__ import annotations

from collections.abc import Iterable

from jourdain.compute.kernel.functions import LIBRARY, Functions
from jourdain.compute.kernel.tape import Step, Tape

BLOCK = 256  # lanes whose inputs are laid out at a time; at least the widest vector
ABREAST = 2  # vectors computed side by side: while one waits for a result, the other goes on
SHORT = 600  # operations up to which this pays; longer tapes find other work by themselves, and compile twice as fast
WIDEST = 8 * ABREAST  # lanes that are computed at a time, at most
LARGEST_BUFFER = 64 * 1024  # bytes of stack
LINE = 64  # bytes of a line of the cache; rows of the tables start on one
CACHED = 2  # doubles: vectors this short serve single lanes, whose results are read at once

_INTRINSICS = {"sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "fabs": "fabs", "copysign": "copysign",
               "fmin": "minnum", "fmax": "maxnum"}  # fmt: skip
_ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARISONS = {"lt": "olt", "le": "ole", "eq": "oeq", "ne": "une"}  # as in C
_BOOLEAN = frozenset((*_COMPARISONS, "not", "and", "or"))


def module(
    name: str, tape: Tape, n_flags: int, width: int, vector_library: frozenset[str], fma: bool, triple: str
) -> str:
    """The IR of a function called `name`. The last `n_flags` outputs are small integers and go to `flags`.

    `vector_library`: symbols that take vectors (libmvec's names); other functions are called lane by lane. `fma`:
    whether the processor multiplies and adds in one instruction.
    """
    lanes = width * (ABREAST if tape.n_operations <= SHORT else 1)
    functions = Functions(width, lanes, vector_library, fma)
    body = _Body(tape, functions, n_flags)
    block = max(lanes, min(BLOCK, LARGEST_BUFFER // (8 * max(tape.n_inputs, 1)) // lanes * lanes))
    fills = [
        line
        for i in range(tape.n_inputs)
        for line in (
            f"  %to{i} = getelementptr double, ptr %buffer, i64 {i * block}",
            f"  %from{i} = getelementptr [4 x i64], ptr %inputs, i64 {i}",
            f"  call void @fill(ptr %to{i}, ptr %from{i}, i64 %block, i64 %count)",
        )
    ]
    return "\n".join([
        f'target triple = "{triple}"',
        *functions.definitions(),
        _FILL,
        f"define void @{name}(i64 %start, i64 %stop, ptr noalias %inputs, ptr noalias %table, i64 %stride,"
        " ptr noalias %flags, i64 %flag_stride) nounwind {",
        "entry:",
        f"  %buffer = alloca [{max(tape.n_inputs, 1) * block} x double], align 64",
        "  br label %blocks",
        "blocks:",
        "  %block = phi i64 [ %start, %entry ], [ %next_block, %block_done ]",
        "  %more = icmp slt i64 %block, %stop",
        "  br i1 %more, label %lay_out, label %done",
        "lay_out:",
        "  %left = sub i64 %stop, %block",
        f"  %short = icmp slt i64 %left, {block}",
        f"  %lanes = select i1 %short, i64 %left, i64 {block}",
        f"  %up = add i64 %lanes, {lanes - 1}",
        f"  %count = and i64 %up, {-lanes}",
        *fills,
        "  br label %vectors",
        "vectors:",
        "  %j = phi i64 [ 0, %lay_out ], [ %next_j, %vectors ]",
        "  %lane = add i64 %block, %j",
        *body.lines,
        f"  %next_j = add i64 %j, {lanes}",
        "  %again = icmp slt i64 %next_j, %count",
        "  br i1 %again, label %vectors, label %block_done",
        "block_done:",
        "  %next_block = add i64 %block, %count",
        "  br label %blocks",
        "done:",
        *(["  fence seq_cst"] if body.streamed else []),  # other threads see all of it
        "  ret void",
        "}",
        "attributes #0 = { nounwind willreturn memory(none) }",
        "!9 = !{i32 1}",
    ])  # fmt: skip


class _Body:
    """The steps of a tape as vector instructions.

    Inputs are loaded where they are first needed and outputs stored as soon as they are known: registers are few.
    """

    def __init__(self, tape: Tape, functions: Functions, n_flags: int) -> None:
        self.tape = tape
        self.functions = functions
        self.vector, self.booleans = functions.vector, functions.booleans
        self.aligned = min(LINE, 8 * functions.lanes)
        # Results of many lanes go past the cache: lines need not be read only to be overwritten.
        self.streamed = ", !nontemporal !9" if functions.width > CACHED else ""
        self.lines: list[str] = []
        self.pairs: dict[int, str] = {}  # angle → its sine and cosine
        self.value: dict[int, str] = {}  # step → the double vector that holds it
        self.truth: dict[int, str] = {}  # step → the i1 vector that holds it
        outputs: dict[int, list[int]] = {}
        for k, step in enumerate(tape.outputs):
            outputs.setdefault(step, []).append(k)
        n_values = len(tape.outputs) - n_flags
        for i in _calls_first(tape.steps):
            self._emit(i, tape.steps[i])
            for k in outputs.get(i, ()):
                self.lines += self._store_flag(k - n_values, i) if k >= n_values else self._store(k, i)

    def _emit(self, i: int, step: Step) -> None:
        name = f"%s{i}"
        if step.operation == "input":
            pass  # loaded when it is needed
        elif step.operation == "const":
            self.value[i] = self.functions.constant(step.constant)
        elif step.operation in _BOOLEAN:
            self.truth[i] = name
            self.lines.append(f"  {name} = {self._condition(step)}")
        else:
            self.value[i] = name
            self.lines.append(f"  {name} = {self._expression(step, name)}")

    def _condition(self, step: Step) -> str:
        operation, arguments = step.operation, step.arguments
        if operation in _COMPARISONS:
            a, b = (self._number(k) for k in arguments)
            return f"fcmp {_COMPARISONS[operation]} {self.vector} {a}, {b}"
        if operation == "not":
            return f"xor {self.booleans} {self._truth(arguments[0])}, {self.functions.splat('i1', 'true')}"
        a, b = (self._truth(k) for k in arguments)
        return f"{operation} {self.booleans} {a}, {b}"

    def _expression(self, step: Step, name: str) -> str:
        operation, vector = step.operation, self.vector
        if operation in ("select", "if_else_zero"):
            condition = self._truth(step.arguments[0])
            yes, *no = (self._number(k) for k in step.arguments[1:])
            return f"select {self.booleans} {condition}, {vector} {yes}, {vector} {no[0] if no else 'zeroinitializer'}"
        arguments = [self._number(k) for k in step.arguments]
        a = arguments[0]
        if operation in _ARITHMETIC:
            return f"{_ARITHMETIC[operation]} contract {vector} {a}, {arguments[1]}"
        if operation == "neg":
            return f"fneg {vector} {a}"
        if operation == "sq":
            return f"fmul contract {vector} {a}, {a}"
        if operation == "twice":
            return f"fadd {vector} {a}, {a}"
        if operation == "inv":
            return f"fdiv {vector} {self.functions.constant(1.0)}, {a}"
        if operation == "sign":  # ±1; 0 and NaN stay what they are
            one = self.functions.intrinsic("copysign", self.functions.constant(1.0), a)
            self.lines += [f"  {name}a = {one}", f"  {name}b = fcmp one {vector} {a}, zeroinitializer"]
            return f"select {self.booleans} {name}b, {vector} {name}a, {vector} {a}"
        if operation in ("sin", "cos") and self.functions.fma:
            return f"extractvalue {{ {vector}, {vector} }} {self._pair(step.arguments[0])}, {int(operation == 'cos')}"
        if operation in _INTRINSICS:
            return self.functions.intrinsic(_INTRINSICS[operation], *arguments)
        return self.functions.call(LIBRARY.get(operation, operation), *arguments)

    def _pair(self, angle: int) -> str:
        """The sine and cosine of a step, computed together."""
        if angle not in self.pairs:
            self.pairs[angle] = f"%p{angle}"
            self.lines.append(f"  %p{angle} = {self.functions.sine_and_cosine(self._number(angle))}")
        return self.pairs[angle]

    def _number(self, i: int) -> str:
        if i not in self.value and self.tape.steps[i].operation == "input":
            which = self.tape.steps[i].arguments[0]
            self.value[i] = f"%in{which}"
            self.lines += [
                f"  %at{which} = getelementptr double, ptr %to{which}, i64 %j",
                f"  %in{which} = load {self.vector}, ptr %at{which}, align 8",
            ]
        if i not in self.value:
            self.value[i] = f"%n{i}"
            self.lines.append(f"  %n{i} = uitofp {self.booleans} {self.truth[i]} to {self.vector}")
        return self.value[i]

    def _truth(self, i: int) -> str:
        if i not in self.truth:
            self.truth[i] = f"%t{i}"
            self.lines.append(f"  %t{i} = fcmp une {self.vector} {self._number(i)}, zeroinitializer")
        return self.truth[i]

    def _store(self, k: int, step: int) -> list[str]:
        number = self._number(step)
        return [
            f"  %row{k} = mul i64 %stride, {k}",
            f"  %place{k} = add i64 %row{k}, %lane",
            f"  %out{k} = getelementptr double, ptr %table, i64 %place{k}",
            f"  store {self.vector} {number}, ptr %out{k}, align {self.aligned}{self.streamed}",
        ]

    def _store_flag(self, k: int, step: int) -> list[str]:
        number = self._number(step)
        return [
            f"  %flag{k} = fptosi {self.vector} {number} to <{self.functions.lanes} x i8>",
            f"  %flag_row{k} = mul i64 %flag_stride, {k}",
            f"  %flag_place{k} = add i64 %flag_row{k}, %lane",
            f"  %flag_out{k} = getelementptr i8, ptr %flags, i64 %flag_place{k}",
            f"  store <{self.functions.lanes} x i8> %flag{k}, ptr %flag_out{k}, align 1",
        ]


def _calls_first(steps: tuple[Step, ...]) -> Iterable[int]:
    """An order in which library calls, and what they need, come first: a call clobbers every vector register."""
    early: set[int] = set()
    for i in reversed(range(len(steps))):
        if steps[i].operation in LIBRARY or i in early:
            early.add(i)
            if steps[i].operation != "input":
                early.update(steps[i].arguments)
    return [*sorted(early), *(i for i in range(len(steps)) if i not in early)]


# Lays `count` lanes of one input, from lane `first` on, into `to`: runs of one value, or stretches of an array.
_FILL = """
define internal void @fill(ptr noalias %to, ptr noalias %from, i64 %first, i64 %count) noinline nounwind {
entry:
  %data = load ptr, ptr %from
  %repeat_at = getelementptr i64, ptr %from, i64 1
  %repeat = load i64, ptr %repeat_at
  %size_at = getelementptr i64, ptr %from, i64 2
  %size = load i64, ptr %size_at
  %step_at = getelementptr i64, ptr %from, i64 3
  %step = load i64, ptr %step_at
  %runs = sdiv i64 %first, %repeat
  %offset0 = srem i64 %first, %repeat
  %index0 = srem i64 %runs, %size
  %array = icmp eq i64 %repeat, 1
  br label %next
next:
  %done = phi i64 [ 0, %entry ], [ %done_after, %advance ]
  %index = phi i64 [ %index0, %entry ], [ %index_after, %advance ]
  %offset = phi i64 [ %offset0, %entry ], [ 0, %advance ]
  %left = sub i64 %count, %done
  %to_end = sub i64 %size, %index
  %in_run = sub i64 %repeat, %offset
  %stretch = select i1 %array, i64 %to_end, i64 %in_run
  %cut = icmp slt i64 %left, %stretch
  %n = select i1 %cut, i64 %left, i64 %stretch
  %place = getelementptr double, ptr %to, i64 %done
  %source_index = mul i64 %index, %step
  %source = getelementptr double, ptr %data, i64 %source_index
  br i1 %array, label %copies, label %one
one:
  %same = load double, ptr %source
  br label %same_loop
same_loop:
  %s = phi i64 [ 0, %one ], [ %s_next, %same_loop ]
  %same_to = getelementptr double, ptr %place, i64 %s
  store double %same, ptr %same_to
  %s_next = add nuw nsw i64 %s, 1
  %s_more = icmp slt i64 %s_next, %n
  br i1 %s_more, label %same_loop, label %advance
copies:
  %dense = icmp eq i64 %step, 1
  br i1 %dense, label %dense_loop, label %strided_loop
dense_loop:
  %d = phi i64 [ 0, %copies ], [ %d_next, %dense_loop ]
  %d_from = getelementptr double, ptr %source, i64 %d
  %d_value = load double, ptr %d_from
  %d_to = getelementptr double, ptr %place, i64 %d
  store double %d_value, ptr %d_to
  %d_next = add nuw nsw i64 %d, 1
  %d_more = icmp slt i64 %d_next, %n
  br i1 %d_more, label %dense_loop, label %advance
strided_loop:
  %c = phi i64 [ 0, %copies ], [ %c_next, %strided_loop ]
  %c_index = mul i64 %c, %step
  %c_from = getelementptr double, ptr %source, i64 %c_index
  %c_value = load double, ptr %c_from
  %c_to = getelementptr double, ptr %place, i64 %c
  store double %c_value, ptr %c_to
  %c_next = add nuw nsw i64 %c, 1
  %c_more = icmp slt i64 %c_next, %n
  br i1 %c_more, label %strided_loop, label %advance
advance:
  %done_after = add i64 %done, %n
  %moved = add i64 %index, 1
  %wrapped = icmp sge i64 %moved, %size
  %turned = select i1 %wrapped, i64 0, i64 %moved
  %index_after = select i1 %array, i64 0, i64 %turned
  %finished = icmp sge i64 %done_after, %count
  br i1 %finished, label %out, label %next
out:
  ret void
}"""
