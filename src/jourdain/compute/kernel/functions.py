"""What a tape calls, as functions of all lanes in LLVM IR: the C library's, and those that are quicker in line.

sin, cos and 1/√x are written out where the processor multiplies and adds in one instruction. Everything else, and sin
and cos of angles beyond `LARGEST_ANGLE`, is left to libmvec, or to libm lane by lane.
"""

from __future__ import annotations

import struct

# Operations that the C library does, by the name it has there.
LIBRARY = {
    **{name: name for name in ("exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
                               "asinh", "acosh", "atanh", "erf", "log1p", "expm1", "fmod", "remainder", "atan2",
                               "hypot", "pow")},
    "constpow": "pow",
}  # fmt: skip
TWO_ARGUMENTS = frozenset(("pow", "atan2", "hypot", "fmod", "remainder"))
_INTRINSIC_ARGUMENTS = {"copysign": 2, "minnum": 2, "maxnum": 2, "fma": 3}
_START = "llvm.x86.avx512.rsqrt14.pd.512"

# π/2 in three parts, so that x − k π/2 is right to the last digit or two for |x| up to LARGEST_ANGLE.
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
LARGEST_ANGLE = 1e6
ROUND = 1.5 * 2.0**52  # adding it rounds to a whole number, which then stands in the last bits
# sin r = r + r z S(z) and cos r = 1 − z/2 + z² C(z) with z = r², |r| ≤ π/4: interpolated at Chebyshev's points, with
# relative errors of 2e-17 and 2e-18.
S = (-0.16666666666666666, 0.008333333333330946, -0.0001984126983675497, 2.755731610068303e-06,
     -2.5051131455427946e-08, 1.591810123027412e-10)  # fmt: skip
C = (0.041666666666666664, -0.0013888888888887395, 2.4801587298763433e-05, -2.7557317270560326e-07,
     2.0876146024689747e-09, -1.1382614868556325e-11)  # fmt: skip


class Functions:
    """Those that a body calls; what was asked for is defined at the end."""

    def __init__(self, width: int, lanes: int, vector_library: frozenset[str], fma: bool) -> None:
        self.width = width  # of the library's vectors
        self.lanes = lanes
        self.vector_library = vector_library
        self.fma = fma
        self.vector = f"<{lanes} x double>"
        self.booleans = f"<{lanes} x i1>"
        self.integers = f"<{lanes} x i64>"
        self._suffix = f"v{lanes}f64"
        self._intrinsics: set[str] = set()
        self._functions: set[str] = set()

    def intrinsic(self, name: str, *arguments: str) -> str:
        self._intrinsics.add(name)
        return f"call {self.vector} @llvm.{name}.{self._suffix}({self._given(arguments)})"

    def call(self, function: str, *arguments: str) -> str:
        self._functions.add(function)
        return f"call {self.vector} @v_{function}({self._given(arguments)})"

    def sine_and_cosine(self, angle: str) -> str:
        """A pair."""
        self._functions.add("sincos")
        return f"call {{ {self.vector}, {self.vector} }} @v_sincos({self.vector} {angle})"

    def _given(self, arguments: tuple[str, ...]) -> str:
        return ", ".join(f"{self.vector} {argument}" for argument in arguments)

    def constant(self, number: float) -> str:
        return self.splat("double", f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}")

    def splat(self, kind: str, text: str) -> str:
        return "<" + ", ".join([f"{kind} {text}"] * self.lanes) + ">"

    def definitions(self) -> list[str]:
        lines: list[str] = []
        if "sincos" in self._functions:
            self._functions |= {"sin", "cos"}  # for large angles
            lines += self._sine_and_cosine()
        if "rsqrt" in self._functions:
            lines += self._reciprocal_root()
        for function in sorted(self._functions - {"sincos", "rsqrt"}):
            arguments = ["%a", "%b"] if function in TWO_ARGUMENTS else ["%a"]
            symbol = vector_symbol(function, self.width)
            by_vector = symbol in self.vector_library
            size, callee = (self.width, symbol) if by_vector else (1, function)
            part = f"<{size} x double>" if by_vector else "double"
            lines.append(f"declare {part} @{callee}({', '.join([part] * len(arguments))}) #0")
            lines += self._in_parts(function, callee, size, arguments)
        for name in sorted(self._intrinsics):
            arguments = [self.vector] * _INTRINSIC_ARGUMENTS.get(name, 1)
            lines.append(f"declare {self.vector} @llvm.{name}.{self._suffix}({', '.join(arguments)})")
        return lines

    def _in_parts(self, function: str, callee: str, size: int, arguments: list[str]) -> list[str]:
        """A function of the lanes by calls that take `size` of them at a time."""
        taken = ", ".join(f"{self.vector} {a}" for a in arguments)
        inline = "alwaysinline" if size > 1 else "noinline"
        lines = [f"define internal {self.vector} @v_{function}({taken}) {inline} #0 {{"]
        results = []
        for i in range(self.lanes // size):
            parts = [self._part(lines, a, i, size) for a in arguments]
            kind = f"<{size} x double>" if size > 1 else "double"
            results.append(f"%r{i}")
            lines.append(f"  %r{i} = call {kind} @{callee}({', '.join(f'{kind} {part}' for part in parts)})")
        joined = self._joined(lines, results, size)
        return [*lines, f"  ret {self.vector} {joined}", "}"]

    def _part(self, lines: list[str], vector: str, i: int, size: int) -> str:
        if size == self.lanes:
            return vector
        if size == 1:
            lines.append(f"  {vector}{i} = extractelement {self.vector} {vector}, i32 {i}")
        else:
            places = ", ".join(f"i32 {i * size + k}" for k in range(size))
            lines.append(
                f"  {vector}{i} = shufflevector {self.vector} {vector}, {self.vector} poison, <{size} x i32> <{places}>"
            )
        return f"{vector}{i}"

    def _joined(self, lines: list[str], parts: list[str], size: int) -> str:
        """The parts side by side in one vector."""
        if size == 1:
            result = "poison"
            for i, part in enumerate(parts):
                lines.append(f"  %v{i} = insertelement {self.vector} {result}, double {part}, i32 {i}")
                result = f"%v{i}"
            return result
        while len(parts) > 1:  # two at a time
            places = ", ".join(f"i32 {k}" for k in range(2 * size))
            joined = []
            for i in range(0, len(parts), 2):
                name = f"{parts[i]}j"
                lines.append(
                    f"  {name} = shufflevector <{size} x double> {parts[i]}, <{size} x double> {parts[i + 1]}, "
                    f"<{2 * size} x i32> <{places}>"
                )
                joined.append(name)
            parts, size = joined, 2 * size
        return parts[0]

    def _reciprocal_root(self) -> list[str]:
        """1 / √x. A root and a division take as long as sixty products; AVX-512 offers a start with 14 right bits,
        and two steps of Newton's method, y ← y + y (½ − x y · y/2), bring it to the last. At 0 and ∞ the start is
        exact, and the steps give NaN.
        """
        vector, half = self.vector, self.constant(0.5)
        lines = [f"define internal {vector} @v_rsqrt({vector} %x) alwaysinline #0 {{"]
        if self.width != 8:  # only AVX-512 is that wide
            return [
                *lines,
                f"  %r = {self.intrinsic('sqrt', '%x')}",
                f"  %y = fdiv {vector} {self.constant(1.0)}, %r",
                f"  ret {vector} %y",
                "}",
            ]
        part = "<8 x double>"
        starts = []
        for i in range(self.lanes // 8):
            x = self._part(lines, "%x", i, 8)
            lines.append(f"  %start{i} = call {part} @{_START}({part} {x}, {part} zeroinitializer, i8 -1)")
            starts.append(f"%start{i}")
        y = start = self._joined(lines, starts, 8)
        for i in (1, 2):
            lines += [
                f"  %s{i} = fmul {vector} %x, {y}",
                f"  %m{i} = fneg {vector} %s{i}",
                f"  %h{i} = fmul {vector} {y}, {half}",
                f"  %e{i} = {self.intrinsic('fma', f'%m{i}', f'%h{i}', half)}",
                f"  %y{i} = {self.intrinsic('fma', y, f'%e{i}', y)}",
            ]
            y = f"%y{i}"
        lines += [
            f"  %n = fcmp uno {vector} {y}, {y}",
            f"  %z = select {self.booleans} %n, {vector} {start}, {vector} {y}",
            f"  ret {vector} %z",
            "}",
        ]
        return [f"declare {part} @{_START}({part}, {part}, i8)", *lines]

    def _sine_and_cosine(self) -> list[str]:
        """With k = x / (π/2), rounded, and r = x − k π/2: sin and cos of r, swapped and negated as k mod 4 says.

        Lanes with large angles, and NaN, take the library's value; which lanes share a vector changes nothing.
        """
        vector, integers, pair = self.vector, self.integers, f"{{ {self.vector}, {self.vector} }}"

        def fma(name: str, *arguments: str) -> str:
            return f"  {name} = {self.intrinsic('fma', *arguments)}"

        def horner(name: str, coefficients: tuple[float, ...]) -> list[str]:
            """%{name}0 is the polynomial at %z."""
            *lower, highest = coefficients
            lines, value = [], self.constant(highest)
            for i, coefficient in reversed(list(enumerate(lower))):
                lines.append(fma(f"%{name}{i}", value, "%z", self.constant(coefficient)))
                value = f"%{name}{i}"
            return lines

        bit = {n: self.splat("i64", str(n)) for n in (1, 2, 62)}
        one, half = self.constant(1.0), self.constant(0.5)
        return [
            f"define internal {pair} @v_sincos({vector} %x) alwaysinline #0 {{",
            "entry:",
            fma("%shifted", "%x", self.constant(1 / HALF_PI[0]), self.constant(ROUND)),
            f"  %k = fsub {vector} %shifted, {self.constant(ROUND)}",
            f"  %minus_k = fneg {vector} %k",
            fma("%r1", "%minus_k", self.constant(HALF_PI[0]), "%x"),
            fma("%r2", "%minus_k", self.constant(HALF_PI[1]), "%r1"),
            fma("%r", "%minus_k", self.constant(HALF_PI[2]), "%r2"),
            f"  %z = fmul {vector} %r, %r",
            *horner("S", S),
            f"  %rz = fmul {vector} %r, %z",
            fma("%sine", "%rz", "%S0", "%r"),
            f"  %sin_r = {self.intrinsic('copysign', '%sine', '%r2')}",  # −0 stays −0, which the last part loses
            *horner("C", C),
            f"  %zz = fmul {vector} %z, %z",
            f"  %half_z = fmul {vector} %z, {half}",
            f"  %w = fsub {vector} {one}, %half_z",  # 1 − z/2 rounds; what it loses is put back
            f"  %lost = fsub {vector} {one}, %w",
            f"  %rest = fsub {vector} %lost, %half_z",
            fma("%tail", "%zz", "%C0", "%rest"),
            f"  %cos_r = fadd {vector} %w, %tail",
            f"  %bits = bitcast {vector} %shifted to {integers}",
            f"  %odd_bit = and {integers} %bits, {bit[1]}",
            f"  %odd = icmp ne {integers} %odd_bit, zeroinitializer",
            f"  %sin_k = select {self.booleans} %odd, {vector} %cos_r, {vector} %sin_r",
            f"  %cos_k = select {self.booleans} %odd, {vector} %sin_r, {vector} %cos_r",
            *self._negated("sin", "%bits", bit),
            f"  %next = add {integers} %bits, {bit[1]}",
            *self._negated("cos", "%next", bit),
            f"  %size = {self.intrinsic('fabs', '%x')}",
            f"  %large = fcmp uge {vector} %size, {self.constant(LARGEST_ANGLE)}",
            f"  %any = call i1 @llvm.vector.reduce.or.v{self.lanes}i1({self.booleans} %large)",
            "  br i1 %any, label %again, label %done, !prof !0",
            "again:",
            f"  %s_library = {self.call('sin', '%x')}",
            f"  %c_library = {self.call('cos', '%x')}",
            f"  %s_both = select {self.booleans} %large, {vector} %s_library, {vector} %sin_x",
            f"  %c_both = select {self.booleans} %large, {vector} %c_library, {vector} %cos_x",
            "  br label %done",
            "done:",
            f"  %s = phi {vector} [ %sin_x, %entry ], [ %s_both, %again ]",
            f"  %c = phi {vector} [ %cos_x, %entry ], [ %c_both, %again ]",
            f"  %p = insertvalue {pair} poison, {vector} %s, 0",
            f"  %both = insertvalue {pair} %p, {vector} %c, 1",
            f"  ret {pair} %both",
            "}",
            f"declare i1 @llvm.vector.reduce.or.v{self.lanes}i1({self.booleans})",
            '!0 = !{!"branch_weights", i32 1, i32 1000000}',
        ]

    def _negated(self, name: str, count: str, bit: dict[int, str]) -> list[str]:
        """%{name}_x: %{name}_k with its sign turned where `count` has its second bit."""
        vector, integers = self.vector, self.integers
        return [
            f"  %{name}_second = and {integers} {count}, {bit[2]}",
            f"  %{name}_sign = shl {integers} %{name}_second, {bit[62]}",
            f"  %{name}_bits = bitcast {vector} %{name}_k to {integers}",
            f"  %{name}_turned = xor {integers} %{name}_bits, %{name}_sign",
            f"  %{name}_x = bitcast {integers} %{name}_turned to {vector}",
        ]


def vector_symbol(function: str, width: int) -> str:
    """The name that glibc's libmvec gives a function, e.g. _ZGVeN8v_sin."""
    isa = {2: "b", 4: "d", 8: "e"}[width]
    return f"_ZGV{isa}N{width}{'vv' if function in TWO_ARGUMENTS else 'v'}_{function}"
