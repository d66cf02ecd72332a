"""A sheet of texts as typed columns: each value of a file is looked at, and goes to a sink in the form of its column.

The forms are guessed from a sample and checked against all values. If some do not fit, the forms are inferred again
from the sample and those values; if that gives others, the sheet is read again with them.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from skillstill.facts.reader import Gap
from skillstill.facts.readers.data.forms import Cell, FileHabits, Form, TextForm, bag_of, convert, infer_form
from skillstill.facts.readers.data.naming import unique_names
from skillstill.facts.readers.data.numbers import Marks, count_marks

ATTEMPTS = 3
BAG = 2_000  # misfits of a column that are kept to infer its form again
DISTINCT = 1_000  # values of a column that are counted
SAMPLES = 3
LONGEST_SAMPLE = 60  # characters
LONGEST_DISTINCT = 200  # characters of a text by which it is told from others
SURPLUS = "more cells than titles"


@dataclass(frozen=True, slots=True)
class LoadedColumn:
    """A column as it was loaded.

    name      in SQL
    title     as it is written in the file
    type      INTEGER, REAL, TEXT, DATE and DATETIME (ISO texts), BOOLEAN (1 and 0), BLOB
    distinct  how many different values there are, DISTINCT + 1 if more than that
    """

    name: str
    title: str
    type: str
    unit: str = ""
    nulls: int = 0
    distinct: int = 0
    minimum: Cell = None
    maximum: Cell = None
    samples: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadedTable:
    """A table as it was loaded.

    place      the sheet, or the line of the header in words
    position   the column that tells where in the file a row is
    line       of the header, 0 if there is none or the file has no lines
    """

    name: str
    place: str
    kind: str
    rows: int
    columns: tuple[LoadedColumn, ...]
    position: str = "_line"
    line: int = 0
    findings: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of a sheet: where each begins, and the texts by column."""

    places: Sequence[int]
    columns: Sequence[Sequence[str]]


@dataclass(slots=True)
class Notes:
    """What is noticed while the rows of a sheet are read, by the number of times."""

    counts: Counter[str] = field(default_factory=Counter)

    def findings(self) -> tuple[str, ...]:
        return tuple(f"{count} {what}" for what, count in self.counts.items() if count)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet before its columns have types.

    sample    texts by column, from which forms are guessed
    read      yields all rows, from the beginning each time; what is noticed goes into the notes
    """

    name: str
    place: str
    position: str
    titles: Sequence[str]
    sample: Sequence[Sequence[str]]
    read: Callable[[Notes], Iterator[Batch]]
    line: int = 0
    findings: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


class Sink(Protocol):
    """Where typed rows go. `create` forgets what came before."""

    def create(self, columns: Sequence[tuple[str, str]]) -> None: ...
    def insert(self, places: Sequence[int], columns: Sequence[Sequence[Cell]]) -> None: ...


class Infer(Protocol):
    """Tells the form of most values in a bag of texts and their counts."""

    def __call__(self, bag: Mapping[str, float], habits: FileHabits | None = None) -> Form: ...


@dataclass(frozen=True, slots=True)
class Conventions:
    """What titles are called in SQL, and which forms texts have. The usual: names without quotes, and ISO dates."""

    names: Callable[[Sequence[str], Sequence[str]], Sequence[str]] = unique_names
    infer: Infer = infer_form


class NoSink:
    """Takes rows nowhere: who only profiles a file needs none."""

    def create(self, columns: Sequence[tuple[str, str]]) -> None:
        """Do nothing."""

    def insert(self, places: Sequence[int], columns: Sequence[Sequence[Cell]]) -> None:
        """Do nothing."""


class Profile:
    """What a column holds, counted batch by batch."""

    def __init__(self) -> None:
        self.nulls = 0
        self.seen: dict[Cell, None] = {}
        self.minimum: Cell = None
        self.maximum: Cell = None

    def add(self, values: Sequence[Cell], misfits: Sequence[str] = ()) -> None:
        """Count these values. Misfits are not compared: a text among numbers is no maximum."""
        present: Sequence[Cell] = values
        if None in values:
            present = [value for value in values if value is not None]
        self.nulls += len(values) - len(present)
        if misfits:
            apart = {*misfits}
            present = [value for value in present if value not in apart]
        if not present:
            return
        if len(self.seen) <= DISTINCT:
            self._see(present)
        try:
            self._span(min(present), max(present))  # type: ignore[type-var]
        except TypeError:  # kinds that cannot be compared
            self.minimum = self.maximum = None

    def _see(self, present: Sequence[Cell]) -> None:
        for value in dict.fromkeys(present):
            if len(self.seen) > DISTINCT:
                break
            self.seen[value[:LONGEST_DISTINCT] if isinstance(value, str | bytes) else value] = None

    def _span(self, low: Cell, high: Cell) -> None:
        self.minimum = low if self.minimum is None else min(self.minimum, low)  # type: ignore[type-var]
        self.maximum = high if self.maximum is None else max(self.maximum, high)  # type: ignore[type-var]

    def column(self, name: str, title: str, kind: str, unit: str) -> LoadedColumn:
        """Return the column with what was counted."""
        samples = tuple(_shown(value) for value in islice(self.seen, SAMPLES))
        low, high = _shown(self.minimum), _shown(self.maximum)
        return LoadedColumn(name, title, kind, unit, self.nulls, len(self.seen), low, high, samples)


@dataclass(slots=True)
class _Column:
    """A column while its sheet is read."""

    title: str
    sample: Counter[str]
    form: Form
    is_left_out: bool = False
    memory: dict[str, Cell] = field(default_factory=dict)
    misfits: Counter[str] = field(default_factory=Counter)
    fitting: int = 0
    nothings: set[str] = field(default_factory=set)  # words that were read as no value
    profile: Profile = field(default_factory=Profile)

    def begin(self) -> None:
        """Forget what was counted, to read the sheet again."""
        self.memory, self.misfits, self.fitting, self.nothings = {}, Counter(), 0, set()
        self.profile = Profile()

    def add(self, texts: Sequence[str]) -> Sequence[Cell]:
        """Return the values of these texts."""
        values, misfits = convert(self.form, texts, self.memory)
        self.fitting += len(texts) - len(misfits)
        for misfit in (text[:LONGEST_DISTINCT] for text in misfits):
            if misfit in self.misfits or len(self.misfits) < BAG:
                self.misfits[misfit] += 1
        if len(self.nothings) < SAMPLES and None in values:
            self.nothings.update(
                islice((text for text, value in zip(texts, values, strict=True) if text and value is None), SAMPLES)
            )
        self.profile.add(values, misfits)
        return values

    def better_form(self, habits: FileHabits, infer: Infer) -> Form:
        """Return the form that all values speak for."""
        if not self.misfits:
            return self.form
        weight = self.fitting / max(sum(self.sample.values()), 1)
        bag = {text: count * weight for text, count in self.sample.items() if text not in self.misfits}
        return infer({**bag, **self.misfits}, habits)


def type_sheet(sheet: Sheet, name: str, sink: Sink, conventions: Conventions = Conventions()) -> LoadedTable:
    """Read the sheet into the sink. Return the table with what all of its values say."""
    columns = [
        _Column(title, bag_of(texts), TextForm()) for title, texts in zip(sheet.titles, sheet.sample, strict=True)
    ]
    habits = _habits(columns)
    for column in columns:
        column.form = TextForm() if column.title == SURPLUS else conventions.infer(column.sample, habits)
        column.is_left_out = column.title in ("", SURPLUS) and not any(column.sample)
    for attempt in range(1, ATTEMPTS + 1):
        notes = Notes()
        rows = _read(sheet, columns, sink, notes, conventions)
        if attempt == ATTEMPTS or not _improve(columns, habits, conventions.infer):
            break
    return _loaded(sheet, name, rows, columns, notes, conventions)


def _habits(columns: Sequence[_Column]) -> FileHabits:
    """Return how the file as a whole writes numbers and dates."""
    totals = [count_marks(column.sample) for column in columns]
    marks = Marks(*(sum(getattr(own, mark) for own in totals) for mark in Marks.__slots__))
    orders = [getattr(infer_form(column.sample), "order", "") for column in columns]
    known = [order for order in orders if order in ("dmy", "mdy")]
    return FileHabits(marks, known[0] if len(set(known)) == 1 else "")


def _read(sheet: Sheet, columns: Sequence[_Column], sink: Sink, notes: Notes, conventions: Conventions) -> int:
    """Read the sheet once, in the present forms. Return the number of rows."""
    kept = [(place, column) for place, column in enumerate(columns) if not column.is_left_out]
    names = _names(columns, sheet.position, conventions)
    sink.create([(name, column.form.kind) for name, (_, column) in zip(names, kept, strict=True)])
    for column in columns:
        column.begin()
    rows = 0
    for batch in sheet.read(notes):
        rows += len(batch.places)
        sink.insert(batch.places, [column.add(batch.columns[place]) for place, column in kept])
        for place, column in enumerate(columns):
            if column.is_left_out and any(batch.columns[place]):
                column.misfits["?"] += 1
    return rows


def _improve(columns: Sequence[_Column], habits: FileHabits, infer: Infer) -> bool:
    """Give columns the forms that all values speak for. Return whether that changes any."""
    changed = False
    for column in columns:
        if column.is_left_out and column.misfits:
            column.is_left_out, changed = False, True
            continue
        form = column.better_form(habits, infer)
        changed = changed or form != column.form
        column.form = form
    return changed


def _names(columns: Sequence[_Column], position: str, conventions: Conventions) -> list[str]:
    """Return the names of the columns that are kept; a left out one still counts as a place."""
    names = conventions.names([column.title for column in columns], [position])
    return [name for name, column in zip(names, columns, strict=True) if not column.is_left_out]


def _loaded(
    sheet: Sheet, name: str, rows: int, columns: Sequence[_Column], notes: Notes, conventions: Conventions
) -> LoadedTable:
    kept = [column for column in columns if not column.is_left_out]
    names = _names(columns, sheet.position, conventions)
    loaded = tuple(
        column.profile.column(own, column.title, column.form.kind, column.form.unit)
        for own, column in zip(names, kept, strict=True)
    )
    of_columns = [finding for own, column in zip(names, kept, strict=True) for finding in _findings(own, column)]
    findings = (*sheet.findings, *notes.findings(), *of_columns)
    return LoadedTable(name, sheet.place, "table", rows, loaded, sheet.position, sheet.line, findings, sheet.gaps)


def _findings(name: str, column: _Column) -> Iterator[str]:
    for finding in column.form.findings:
        yield f"{name}: {finding}"
    if column.form.unit:
        yield f"{name}: {column.form.unit} left out of the values"
    if words := sorted({word for text in column.nothings if (word := text.strip())})[:SAMPLES]:
        yield f"{name}: {', '.join(words)} read as no value"
    if misfits := column.misfits.total():
        share, example = f"{misfits} of {misfits + column.fitting}", str(_shown(next(iter(column.misfits))))
        yield f"{name}: {share} are no {column.form.kind}, kept as text, such as {example}"


def _shown(value: Cell) -> Cell:
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    if isinstance(value, str) and len(value) > LONGEST_SAMPLE:
        return value[: LONGEST_SAMPLE - 1] + "…"
    return value
