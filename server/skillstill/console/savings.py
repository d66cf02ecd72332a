"""What runs did, by week and subagent, and what an orchestrator did not have to read for them.

Counted from the stored traces. A token is taken for four characters of text, as nobody knows the orchestrator's own.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from string import Template

from rich.console import Console
from rich.text import Text

from skillstill.errors import UsageError
from skillstill.run import store
from skillstill.run.feedback import Verdict, all_feedback
from skillstill.run.finish import UNSURE
from skillstill.types import Frozen, Trace
from skillstill.util.storage import write_atomically
from skillstill.util.text import clean, one_line

CHARACTERS = 4  # of a token
COUNTED = ("answered", "unsure", "handed_back", "failed", "said_right", "said_wrong")
FIELDS = ("runs", *COUNTED, "local_tokens")  # of a row, as they are shown
COLUMNS = ("week", "subagent", *(field.replace("_", " ") for field in FIELDS), "tokens not spent")
MONEY = "money not spent"
NOTHING = "no run is stored yet; `skillstill run` and `skillstill serve` keep them for 30 days"
PAGE = Path(__file__).with_name("savings.html")
_out = Console(soft_wrap=True, highlight=False, markup=False)


class Price(Frozen):
    """What a million tokens cost that an orchestrator reads, and that it writes, in any currency."""

    read: float
    written: float

    @classmethod
    def parse(cls, text: str) -> "Price":
        """Return `3` or `3,15`. Raise UsageError."""
        try:
            read, *rest = [float(part) for part in text.split(",")]
        except ValueError as error:
            raise UsageError(f"--price is IN or IN,OUT per million tokens, like 3,15, not {text[:40]!r}") from error
        if len(rest) > 1 or not all(0 <= one < 1e9 for one in (read, *rest)):
            raise UsageError(f"--price is IN or IN,OUT per million tokens, like 3,15, not {text[:40]!r}")
        return cls(read=read, written=rest[0] if rest else read)


class Saving(Frozen):
    """Tokens that an orchestrator did not spend: those that it would have read, less those that it read and wrote.

    Negative if a run only cost it a call and a report.
    """

    read: int = 0
    written: int = 0

    @property
    def tokens(self) -> int:
        return self.read + self.written

    def money(self, price: Price) -> float:
        return (self.read * price.read + self.written * price.written) / 1_000_000


class Row(Frozen):
    """The runs of one subagent in one week. `unsure` are answered, with a warning; `answered` are without one.

    `said_right` and `said_wrong` count those that somebody gave feedback on.
    """

    week: str
    subagent: str
    runs: int
    answered: int
    unsure: int
    handed_back: int
    failed: int
    said_right: int
    said_wrong: int
    local_tokens: int
    saved: Saving


def show(price: str | None, file: Path | None, *, as_json: bool) -> None:
    """Print the stored runs, or write them as a page. Raise UsageError."""
    paid = Price.parse(price) if price is not None else None
    found = rows(store.readable(), {one.run: one.verdict for one in all_feedback()})
    if file:
        _write(file, page(found, paid))
        _out.print(Text(f"wrote {file}"))
    elif as_json:
        _print_json(found, paid)
    else:
        _out.print(Text("\n").join(_table(found, paid) if found else [Text(NOTHING)]))


def rows(traces: Iterable[Trace], verdicts: Mapping[str, Verdict]) -> Sequence[Row]:
    """Return a row for each week and subagent, the latest week first. `verdicts` is the feedback by run."""
    kept = [
        (_week(trace), trace.skill, (_outcome(trace), _said(trace, verdicts)), trace.tally.tokens, saving(trace))
        for trace in traces
    ]
    kept.sort(key=lambda one: (one[0], one[1]))
    found = [_row(week, name, list(group)) for (week, name), group in groupby(kept, key=lambda one: one[:2])]
    return sorted(found, key=lambda row: row.week, reverse=True)


def saving(trace: Trace) -> Saving:
    """Return what a run saved: all that its tools showed, if it was answered without a warning; less its own cost."""
    shown = sum(len(message.content) for message in trace.messages if message.role == "tool")
    reply = len(trace.report.text) + sum(map(len, trace.report.evidence))
    avoided = shown if _outcome(trace) == "answered" else 0
    return Saving(read=(avoided - reply) // CHARACTERS, written=-(len(trace.prompt) // CHARACTERS))


def _row(week: str, name: str, runs: Sequence[tuple[str, str, tuple[str, str], int, Saving]]) -> Row:
    found = [one for _, _, outcomes, _, _ in runs for one in outcomes]
    counts = {field: found.count(field) for field in COUNTED}
    saved = Saving(read=sum(one[4].read for one in runs), written=sum(one[4].written for one in runs))
    return Row(
        week=week, subagent=name, runs=len(runs), local_tokens=sum(one[3] for one in runs), saved=saved, **counts
    )


def _week(trace: Trace) -> str:
    year, week, _ = trace.created.astimezone().isocalendar()
    return f"{year}-W{week:02}"


def _outcome(trace: Trace) -> str:
    report = trace.report
    if report.status == "answered":
        return "unsure" if UNSURE in report.notes else "answered"
    return "handed_back" if report.status == "escalate" else "failed"


def _said(trace: Trace, verdicts: Mapping[str, Verdict]) -> str:
    return f"said_{verdicts[trace.run]}" if trace.run in verdicts else ""


def _cells(row: Row, price: Price | None) -> Sequence[str]:
    counts = (*(getattr(row, field) for field in FIELDS), row.saved.tokens)
    money = [f"{row.saved.money(price):z,.4f}"] if price else []
    return (row.week, one_line(row.subagent, 40), *(f"{count:,}" for count in counts), *money)


def _total(found: Sequence[Row]) -> Row:
    sums = {field: sum(getattr(row, field) for row in found) for field in FIELDS}
    saved = Saving(read=sum(row.saved.read for row in found), written=sum(row.saved.written for row in found))
    return Row(week="all", subagent="", saved=saved, **sums)


def _lines(found: Sequence[Row], price: Price | None) -> Sequence[Sequence[str]]:
    return [_cells(row, price) for row in (*found, _total(found))]


def _headings(price: Price | None) -> Sequence[str]:
    return (*COLUMNS, MONEY) if price else COLUMNS


def _table(found: Sequence[Row], price: Price | None) -> Iterator[Text]:
    lines = [_headings(price), *_lines(found, price)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for number, line in enumerate(lines):
        cells = [
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        yield Text("  ".join(cells).rstrip(), style="bold" if number in {0, len(lines) - 1} else "")


def page(found: Sequence[Row], price: Price | None) -> str:
    """Return one page that needs nothing else."""
    head = "".join(f"<th>{escape(name)}</th>" for name in _headings(price))
    body = "\n".join(_html_row(line) for line in _lines(found, price)) if found else ""
    said = f"A million tokens: {price.read:g} read, {price.written:g} written." if price else ""
    return Template(PAGE.read_text(encoding="utf-8")).substitute(
        head=head, body=body, price=said, nothing="" if found else escape(NOTHING)
    )


def _html_row(line: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<td>{escape(clean(cell))}</td>' for cell in line)}</tr>"


def _write(file: Path, text: str) -> None:
    try:
        write_atomically(file.expanduser(), text)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error


def _print_json(found: Sequence[Row], price: Price | None) -> None:
    money = [{"money": round(row.saved.money(price), 6)} if price else {} for row in found]
    print(json.dumps([row.model_dump() | more for row, more in zip(found, money, strict=True)], ensure_ascii=False))
