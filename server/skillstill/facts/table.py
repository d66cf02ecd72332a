"""What rows there are: fact tables and their columns."""

from dataclasses import dataclass
from typing import Literal

# text      as it is
# word      a text that many rows share, such as a name: stored once
# integer   real
# excerpt   bytes of the file itself: a row holds (offset, length), and who asks gets the text. It costs no room.
ColumnType = Literal["text", "word", "integer", "real", "excerpt"]
Value = str | int | float | tuple[int, int] | None  # a tuple in a column of excerpts
Row = tuple[Value, ...]  # first line, last line, and a value for each column that is stored


@dataclass(frozen=True, slots=True)
class FactColumn:
    """A column. `about` says what it holds, in a few words; empty if the name says all.

    values    all that it can hold beside NULL, if that is a few words
    spare     the column that holds the text of rows whose excerpt is NULL: of files that are compressed, for example
    is_verbatim  whether the words of a value stand in its file as they are: a file that lacks one has no such row
    of        the column, of words with dots, whose last part it is: a row holds no value for it, and it costs no room
    """

    name: str
    type: ColumnType = "text"
    about: str = ""
    values: tuple[str, ...] = ()
    of: str = ""
    spare: str = ""
    is_verbatim: bool = False


@dataclass(frozen=True, slots=True)
class FactTable:
    """A table of facts. Beside `columns` each row has `path`, `first` and `last`: the lines that show it.

    Lines are 1-based, both ends included; 0 and 0 is the file as a whole.

    about     what a row is, in one line for a model
    indexed   columns by which rows are looked up
    is_hidden whether it is kept for other tools, and no query sees it
    made_of   a SELECT over other tables whose result it is: no rows of its own are kept, and it costs no room
    """

    name: str
    about: str
    columns: tuple[FactColumn, ...]
    indexed: tuple[str, ...] = ()
    is_hidden: bool = False
    made_of: str = ""

    @property
    def stored(self) -> tuple[FactColumn, ...]:
        """The columns that a row holds values for."""
        return tuple(column for column in self.columns if not column.of)
