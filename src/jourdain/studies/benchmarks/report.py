"""What `jourdain bench` measured, as text for a terminal and as Markdown for a file."""

from __future__ import annotations

from jourdain.studies.benchmarks.run import Report

Row = tuple[str, ...]


def tables(report: Report) -> list[tuple[Row, list[Row]]]:
    """(header, rows) of each table."""
    ours = next((result.rate for result in report.rates if result.name == "jourdain, 2 threads"), 0.0)
    rates: list[Row] = [
        (result.name, f"{result.rate / 1e6:.3g}", f"{ours / result.rate:.3g}" if ours else "", result.note)
        for result in report.rates
    ]
    contacts: list[Row] = [(result.name, f"{result.rate / 1e6:.3g}", result.note) for result in report.contacts]
    motion: list[Row] = [(result.name, f"{result.rate:.3g}", result.note) for result in report.motion]
    robots: list[Row] = [(result.name, f"{result.rate / 1e6:.3g}", result.note) for result in report.robots]
    logs: list[Row] = [(result.name, f"{result.rate / 1e6:.3g}", result.note) for result in report.logs]
    times: list[Row] = [(name, _seconds(value)) for name, value in report.times.items()]
    ratios: list[Row] = [
        (name, f"{value:.3g}") for name, value in report.ratios.items() if not name.startswith("jourdain /")
    ]
    memory: list[Row] = [(name, f"{value:.3g}") for name, value in report.memory.items()]
    found: list[tuple[Row, list[Row]]] = [
        (("walker's heel strike", "million events/s", "jourdain on 2 threads is × faster", "how"), rates),
        (("contacts", "million events/s", "how"), contacts),
        (("robots, 1 core", "million events/s", "how"), robots),
        (("motion", "steps or starts/s", "how"), motion),
        (("logs", "million samples/s", "how"), logs),
        (("time", ""), times),
        (("ratio", ""), ratios),
        (("memory", ""), memory),
    ]
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
