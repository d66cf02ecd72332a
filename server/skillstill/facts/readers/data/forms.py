"""What the values of a column are: numbers, dates, truth values or texts, and what stands for "no value"."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from skillstill.facts.readers.data.dates import infer_date, is_open
from skillstill.facts.readers.data.numbers import CODE, MAX_DIGITS, Marks, infer_number

Cell = str | int | float | bytes | None
FITTING = 0.8  # of a column's values are of its form; others stay as they are
KEPT = 100_000  # values whose conversion is remembered
# What stands for no value. In a column of texts only what can hardly be a text.
NO_TEXT = frozenset({"", "-", "--", "NULL", "null", "Null", "N/A", "n/a", "#N/A", "NaN", "nan", "NA", "\\N", "<NA>"})
NO_VALUE = NO_TEXT | frozenset(
    {
        "na",
        "None",
        "none",
        "NONE",
        "nil",
        "Nil",
        "---",
        "–",
        "—",
        ".",
        "..",
        "...",
        "…",
        "?",
        "*",
        "N.A.",
        "n.a.",
        "n.d.",
    }
    | {"NAN", "N/a", "/", "x", "X", "#NULL!", "#VALUE!", "#REF!", "#DIV/0!", "#NUM!", "#NAME?", "-nan", "NaT", "/  /"}
)
TRUTH = {"true": 1, "false": 0}
LOOKED_AT = 500  # different values by which a form is inferred
SOME_CODE = re.compile(r"(?=\w*\d)(?=[\d-]*[A-Za-z-])\w[\w-]*")  # digits with letters or hyphens
FEW = 0.02
CODES = 0.5  # of the texts have two capitals: then `NA` is one of them, such as Namibia


class Form(Protocol):
    """How a column writes its values."""

    @property
    def kind(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def findings(self) -> tuple[str, ...]: ...
    @property
    def is_plain(self) -> bool: ...
    @property
    def batch(self) -> re.Pattern[str]: ...
    def value(self, text: str) -> str | int | float | None: ...


@dataclass(frozen=True, slots=True)
class TextForm:
    """Texts. `has_codes` if `NA` is one of them."""

    has_codes: bool = False
    kind: str = "TEXT"
    unit: str = ""
    is_plain: bool = False
    findings: tuple[str, ...] = ()
    batch: re.Pattern[str] = re.compile(r"(?!)")

    def value(self, text: str) -> str | None:
        return text


@dataclass(frozen=True, slots=True)
class OpenDateForm:
    """Dates of which day or month may come first, left as they are. A date that tells does not fit."""

    kind: str = "TEXT"
    unit: str = ""
    is_plain: bool = False
    findings: tuple[str, ...] = ("dates left as they are: day or month may come first",)
    batch: re.Pattern[str] = re.compile(r"(?!)")

    def value(self, text: str) -> str | None:
        return text if is_open(text) else None


@dataclass(frozen=True, slots=True)
class TruthForm:
    """`true` and `false` as 1 and 0."""

    kind: str = "BOOLEAN"
    unit: str = ""
    is_plain: bool = False
    findings: tuple[str, ...] = ("true and false read as 1 and 0",)
    batch: re.Pattern[str] = re.compile(r"(?!)")

    def value(self, text: str) -> int | None:
        return TRUTH.get(text.lower())


@dataclass(frozen=True, slots=True)
class FileHabits:
    """What other columns of a file tell of one: their marks in numbers, and the order of their dates."""

    marks: Marks
    order: str = ""


def infer_form(bag: Mapping[str, float], habits: FileHabits | None = None) -> Form:
    """Return the form of most values in the bag of texts and their counts. Texts have no form that others fit into."""
    values = _some({text: count for text, count in bag.items() if text not in NO_VALUE})
    total = sum(values.values())
    if not total:
        return TextForm()
    needed = FITTING * total
    if set(map(str.lower, values)) <= TRUTH.keys():
        return TruthForm()
    date, is_unclear = infer_date(values, habits.order if habits else "")
    if date and _fitting(date, values) >= needed and not (date.order == "compact" and _fitting(date, values) < total):
        return OpenDateForm() if is_unclear else date
    if any(CODE.fullmatch(text) for text in values):
        return _text(values, total)
    number = infer_number(values, habits.marks if habits else None)
    if number and _fitting(number, values) >= needed and not _is_long(values) and not _has_codes(number, values):
        return number
    return _text(values, total)


def _some(values: dict[str, float]) -> dict[str, float]:
    """Return the values, or some of them from all over if they are many."""
    if len(values) <= LOOKED_AT:
        return values
    step = len(values) // LOOKED_AT
    return dict(islice(values.items(), 0, None, step))


def convert(form: Form, texts: Sequence[str], memory: dict[str, Cell]) -> tuple[list[Cell], list[str]]:
    """Return the values of the texts, and the texts that do not fit. They are among the values, too.

    `memory` holds what was converted before.
    """
    if form.is_plain and form.batch.fullmatch("\0".join(texts) + "\0"):
        try:
            return _convert_plain(form.kind, texts), []
        except ValueError:  # a text with a NUL in it is no number
            return _convert_each(form, texts, memory)
    if isinstance(form, TextForm):
        nothing = NO_TEXT - {"NA"} if form.has_codes else NO_TEXT
        return [None if text in nothing else text for text in map(str.strip, texts)], []
    return _convert_each(form, texts, memory)


def _convert_plain(kind: str, texts: Sequence[str]) -> list[Cell]:
    """Return the values of texts that are all written as Python or ISO would, or nothing."""
    if kind == "INTEGER":
        return [int(text) if text else None for text in texts]
    if kind == "REAL":
        return [float(text) if text else None for text in texts]
    return [text or None for text in texts]


def _convert_each(form: Form, texts: Sequence[str], memory: dict[str, Cell]) -> tuple[list[Cell], list[str]]:
    values: list[Cell] = []
    misfits: list[str] = []
    if len(memory) > KEPT:
        memory.clear()
    for text in texts:
        if text in memory:
            values.append(memory[text])
            continue
        bare = text.strip()
        value = None if bare in NO_VALUE else form.value(bare)
        if value is None and bare not in NO_VALUE:
            misfits.append(bare)
            values.append(bare)
        else:
            memory[text] = value
            values.append(value)
    return values, misfits


def _fitting(form: Form, values: Mapping[str, float]) -> float:
    return sum(count for text, count in values.items() if form.value(text) is not None)


def _has_codes(number: Form, values: Mapping[str, float]) -> bool:
    """Return whether more than a few values are codes such as `20005-1234`: then those like numbers are, too."""
    codes = sum(count for text, count in values.items() if number.value(text) is None and SOME_CODE.fullmatch(text))
    return codes > FEW * sum(values.values())


def _is_long(values: Mapping[str, float]) -> bool:
    """Return whether some whole numbers have more digits than fit: those are names of things."""
    return any(text.isdigit() and len(text) > MAX_DIGITS for text in values)


def _text(values: Mapping[str, float], total: float) -> TextForm:
    codes = sum(count for text, count in values.items() if len(text) == 2 and text.isupper())
    return TextForm(has_codes=codes > CODES * total)


def bag_of(texts: Sequence[str]) -> Counter[str]:
    """Return the stripped texts and how often each stands there."""
    return Counter(map(str.strip, texts))
