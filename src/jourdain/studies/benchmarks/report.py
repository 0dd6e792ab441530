"""What `jourdain bench` measured, as text for a terminal and as Markdown for a file."""

from __future__ import annotations

from jourdain.studies.benchmarks.run import RATES, TWO, Report

Row = tuple[str, ...]


def tables(report: Report) -> list[tuple[Row, list[Row]]]:
    """(header, rows) of each table."""
    ours = next((result.rate for result in report.results["walker"] if result.name == TWO), 0.0)
    found: list[tuple[Row, list[Row]]] = []
    for table, (_, title, unit, size) in RATES.items():
        header: Row = (title, unit, "how")
        rows: list[Row] = [(one.name, f"{one.rate / size:.3g}", one.note) for one in report.results[table]]
        if table == "walker":
            header = (title, unit, "jourdain on 2 threads is × faster", "how")
            faster = [f"{ours / one.rate:.3g}" if ours else "" for one in report.results[table]]
            rows = [(name, rate, times, how) for (name, rate, how), times in zip(rows, faster, strict=True)]
        found.append((header, rows))
    ratios = {name: value for name, value in report.ratios.items() if not name.startswith("jourdain /")}
    found.append((("time", ""), [(name, _seconds(value)) for name, value in report.times.items()]))
    for title, numbers in (("ratio", ratios), ("memory", report.memory)):
        found.append(((title, ""), [(name, f"{value:.3g}") for name, value in numbers.items()]))
    return [(header, rows) for header, rows in found if rows]


def markdown(report: Report) -> str:
    """A page for the repository."""
    lines = [
        "# Results of `jourdain bench`",
        "",
        "Made by `jourdain bench --out benchmarks/RESULTS.md`. All peers run in turn in one process and are asserted",
        f"equal to 1e-9 before; medians of {report.repetitions} rounds. Ratios travel, numbers are this machine's.",
        "",
        *(f"- {what}: {value}" for what, value in report.machine.items()),
        *(f"- {line}" for line in report.missing),
    ]
    for header, rows in tables(report):
        lines += [
            "",
            f"| {' | '.join(header)} |",
            f"|{'---|' * len(header)}",
            *(f"| {' | '.join(row)} |" for row in rows),
        ]
    return "\n".join(lines) + "\n"


def _seconds(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"
