"""What is found in one file on the way to rows. `start` and `end` are byte offsets, `first` and `last` lines."""

from dataclasses import dataclass, field

from skillstill.facts.table import Row, Value


@dataclass(slots=True)
class Definition:
    """A definition whose parts are still being collected.

    around           kind of what it is defined in: "class", "trait", "module" and so on; "" at the top of a file
    access           what its `export` or its section (`public:`) says
    decorated_from   line of the first decorator, else of the definition
    decorated_until  where the last annotation inside of it ends: its head begins there
    """

    name: str
    qualified: str
    kind: str
    parent: str | None
    around: str
    start: int
    end: int
    first: int
    last: int
    name_start: int
    body: int | None
    access: str
    doc: str | None
    decorators: list[str]
    decorated_from: int
    decorated_until: int = 0
    returns: str | None = None
    receiver: str | None = None  # Python's self, which is no parameter
    parameters: int = 0


@dataclass(slots=True)
class Scope:
    """A part of the file up to byte `end`.

    definition  whose body it is; None for an unnamed function
    owner       the nearest definition around
    access      what a section such as `public:` says of the members below it
    """

    end: int
    kind: str = ""
    name: str | None = None
    prefix: str = ""
    definition: Definition | None = None
    owner: Definition | None = None
    access: str = ""

    def qualify(self, *names: str) -> str:
        """Return the names, what is around them in front."""
        return ".".join(name for name in (self.prefix, *names) if name)


@dataclass(slots=True)
class Call:
    """A call. By `start` a test finds the calls inside of it. `text` begins with the arguments."""

    start: int
    name: str
    receiver: str | None
    text: str
    row: Row


@dataclass(slots=True)
class Block:
    """A test or a suite that is a call: `it("works", () => ...)`."""

    start: int
    end: int
    name: str
    first: int
    last: int


@dataclass(slots=True)
class Comment:
    """A comment, or several in lines below each other."""

    start: int
    end: int
    last: int


@dataclass(slots=True)
class Parameter:
    first: int
    last: int
    end: int
    function: str
    name: str | None
    position: int
    type: str | None
    value: str | None

    def row(self) -> Row:
        return self.first, self.last, self.function, self.name, self.position, self.type, self.value


@dataclass(slots=True)
class Variable:
    first: int
    last: int
    end: int
    name: str
    qualified: str
    kind: str
    parent: str | None
    type: str | None
    value: tuple[int, int] | None

    def row(self) -> Row:
        names = (self.name, self.qualified, self.kind, self.parent)
        return self.first, self.last, *names, self.type, self.value


@dataclass(slots=True)
class Findings:
    """All of a file. Bases, imports and raises are rows at once."""

    definitions: list[Definition] = field(default_factory=list)
    parameters: list[Parameter] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    bases: list[Row] = field(default_factory=list)
    imports: list[Row] = field(default_factory=list)
    raises: list[Row] = field(default_factory=list)
    suites: list[Block] = field(default_factory=list)
    tests: list[Block] = field(default_factory=list)
    entries: list[tuple[int, int, str, Value]] = field(default_factory=list)  # first, last, kind, name
    decorators: set[int] = field(default_factory=set)  # where they start, as many are calls, too
    has_errors: bool = False
    is_too_deep: bool = False
