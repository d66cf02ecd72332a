"""Declared kinds: `kinds.toml` of a skill folder, goal families without Python.

A kind says in SQL over the fact tables what can be asked of a workspace and what is right, and in words how people ask
it. Nothing of the file is executed but those queries, each under the limits of the tool `query`.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, ValidationError, field_validator, model_validator
from skillstill.errors import GoalsError
from skillstill.skills.skill import mistake
from skillstill.types import Frozen

FILE = "kinds.toml"
LEAST_WORDINGS = 12  # every fifth is kept back: with fewer, validation would hear two
OF_ROW = ("row", "row_path", "row_line")  # slots of a call: what the first row of the last result showed
SLOT = re.compile(r"'(?:[^']|'')*'|\{(?P<slot>[^\W\d]\w*)\}")

Form = Literal["value", "list", "count", "place", "none", "declined"]
Slots = Mapping[str, str | int]
Sql = Annotated[str, BeforeValidator(lambda text: " ".join(text.split()) if isinstance(text, str) else text)]
# A SELECT for the tool `query`, or the name of another tool under `tool` with its arguments.
DeclaredCall = Sql | Mapping[str, str | int]
Calls = Annotated[tuple[DeclaredCall, ...], BeforeValidator(lambda one: (one,) if isinstance(one, str | dict) else one)]


class Kind(Frozen):
    """One kind of question.

    draw      a SELECT whose rows each give the slots of one question, named like its columns
    gold      a SELECT with slots whose rows are the right answer: one of a value or count, at most twelve of others.
              More columns of a value are other ways to say it
    form      of the answer; of `none` there are no rows, and `declined` is work that the tools cannot do
    query     the calls that a good worker makes, each of which may use what the one before it showed; else `gold`
    miss      calls that somebody might make before, and that do not help
    wrong     a SELECT with slots: what might be taken for the answer
    because   why such work is handed back
    loose     slots that people also say loosely: the calls must find what they mean
    test      wordings by another hand, which are asked in the test alone; a `wordings/test.toml` may hold them too
    absent    whether it is also asked of things that are not there: the first column of `draw` is then another text
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    means: str = Field(min_length=1, max_length=300)
    form: Form
    draw: Sql = Field(min_length=1)
    gold: Sql = ""
    query: Calls = ()
    miss: Calls = ()
    wrong: Sql = ""
    because: str = ""
    wordings: tuple[str, ...] = Field(min_length=LEAST_WORDINGS)
    test: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()
    absent: bool = False
    hard: bool = False
    held_out: bool = False

    @field_validator("query", "miss")
    @classmethod
    def named(cls, calls: tuple[DeclaredCall, ...]) -> tuple[DeclaredCall, ...]:
        if any(not isinstance(one, str) and "tool" not in one for one in calls):
            raise ValueError("expected a SELECT, or a table with the name of a `tool` and its arguments")
        return calls

    @model_validator(mode="after")
    def complete(self) -> Self:
        if self.form == "declined":
            if self.gold or self.query or not self.because:
                raise ValueError("declined work has a reason (`because`), and neither `gold` nor `query`")
        elif not self.gold:
            raise ValueError("expected `gold`: a SELECT whose rows are the right answer")
        if self.form == "list" and not self.wrong:
            raise ValueError("a list needs `wrong`: a SELECT of what else might be listed")
        if self.absent and self.form not in ("value", "list", "place"):
            raise ValueError(f"what is not there can be asked of values, lists and places, not of a {self.form}")
        return self

    @property
    def calls(self) -> tuple[DeclaredCall, ...]:
        return self.query or ((self.gold,) if self.gold else ())


class Kinds(Frozen):
    kind: tuple[Kind, ...] = Field(min_length=1)


def load_kinds(skill: Path) -> tuple[Kind, ...]:
    """Return the kinds that a skill folder declares, none without the file.

    Raise GoalsError: which kind, which field, what was expected.
    """
    file = skill / FILE
    try:
        fields = tomllib.loads(file.read_text(encoding="utf-8"))
        return Kinds.model_validate(fields).kind
    except FileNotFoundError:
        return ()
    except ValidationError as error:
        raise GoalsError(f"{file}: {_told(error, fields)}") from error
    except (OSError, ValueError) as error:
        raise GoalsError(f"{file} cannot be read as TOML: {error}") from error


def _told(error: ValidationError, fields: Mapping[str, object]) -> str:
    """Return the first mistake, with the name of its kind in place of its number."""
    match error.errors()[0]["loc"]:
        case ("kind", int(number), *_) if isinstance(listed := fields["kind"], list):
            name = listed[number].get("name", number) if isinstance(listed[number], dict) else number
            field, what = mistake(error)
            inner = field.removeprefix(f"kind.{number}").removeprefix(".")
            return f"kind {name!r}: {f'{inner}: ' if inner else ''}{what}"
    return ": ".join(mistake(error))


def filled_sql(sql: str, slots: Slots) -> str:
    """Return a query with the slots as values: `{name}` quoted, or as a number; within quotes as it is.

    Raise KeyError for a slot that there is not.
    """

    def value(match: re.Match[str]) -> str:
        if match["slot"] is None:
            return re.sub(r"\{([^\W\d]\w*)\}", lambda inner: _doubled(slots[inner[1]]), match[0])
        found = slots[match["slot"]]
        return str(found) if isinstance(found, int) else f"'{_doubled(found)}'"

    return SLOT.sub(value, sql)


def _doubled(value: str | int) -> str:
    return str(value).replace("'", "''")
