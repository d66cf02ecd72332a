"""A skill folder as a value: `SKILL.md` in the open Agent Skills format and `subagent.toml`."""

import re
import reprlib
import shlex
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    InstanceOf,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from skillstill.errors import SkillError
from skillstill.sandbox.sandbox import SandboxLimits
from skillstill.skills.code import READER, load_toolset, reader_references
from skillstill.tools import TOOLS, Tool, Toolset, fact_tools
from skillstill.types import Frozen, ModelFile, ToolCall
from skillstill.util.storage import open_regular
from skillstill.util.text import one_line

# The Agent Skills specification (agentskills.io): 1-64 of a-z, 0-9 and single hyphens, none at an end.
NAME = r"^[a-z0-9]+(-[a-z0-9]+)*$"
SIZE = r"^[0-9]{1,3}(\.[0-9]{1,2})?[bm]$"  # parameters: 0.5b, 360m
# Characters, and nested brackets, of what is parsed: beyond them PyYAML and tomllib take minutes. The longest front
# matter in 17 public libraries has 6,000 characters, the most brackets in one are 22.
LONGEST_FIELDS, MOST_BRACKETS = 20_000, 200
MOST_CHARACTERS = 1_000_000  # of a file
Value = TypeVar("Value", bound=BaseModel)


class Limits(Frozen):
    """Hard budgets of one run. `tokens` counts what is read anew and what is written.

    Each has an upper bound: a skill may come from a stranger, and a run holds one of few places and its memory.
    """

    steps: int = Field(default=8, ge=1, le=100)
    turn_tokens: int = Field(default=200, ge=16, le=4_000)
    tokens: int = Field(default=8_000, ge=100, le=1_000_000)
    seconds: float = Field(default=180, gt=0, le=3_600)
    context: int = Field(default=4_096, ge=512, le=131_072)


Mode = Literal["read", "scratch", "write"]


class WorkspaceUse(Frozen):
    """What tools that execute may do to the workspace.

    read      look at it
    scratch   work on a copy, whose changes come back as a patch
    write     change it, if the user allows that; otherwise as `scratch`
    """

    mode: Mode = "read"


class SandboxUse(Frozen):
    """What the sandbox of tools that execute is like (sandbox.SandboxPlan)."""

    packages: tuple[str, ...] = Field(default=(), max_length=50)
    hosts: tuple[str, ...] = Field(default=(), max_length=50)
    limits: SandboxLimits = SandboxLimits()


class McpServer(Frozen):
    """A stdio MCP server, which runs in a sandbox of its own around the workspace.

    args       as it gets them; the workspace is `/workspace`
    packages   of its sandbox, and hosts that it may reach (sandbox.SandboxPlan)
    tools      those that the skill has, by the server's names for them; without any: all that it lists
    """

    name: str = Field(pattern=NAME, max_length=64)
    command: str = Field(min_length=1, max_length=200)
    args: tuple[str, ...] = Field(default=(), max_length=50)
    packages: tuple[str, ...] = Field(default=(), max_length=50)
    hosts: tuple[str, ...] = Field(default=(), max_length=50)
    tools: tuple[str, ...] = Field(default=(), max_length=50)

    @property
    def line(self) -> str:
        """Return its command line, with what it is made of and what it may reach."""
        told = {"packages": self.packages, "hosts": self.hosts, "tools": self.tools}
        parts = (f"{what}: {', '.join(which)}" for what, which in told.items() if which)
        return "; ".join([shlex.join([self.command, *self.args]), *parts])


class Opening(Frozen):
    """A call that every run begins with, so that no model has to make it.

    prompt   the argument that holds the question; without it the call has no arguments
    shared   its result stands before the question, so that it is read once for all questions about a folder
    """

    tool: str
    prompt: str = ""
    shared: bool = False

    @model_validator(mode="after")
    def _is_shared_by_all(self) -> Self:
        if self.shared and self.prompt:
            raise ValueError("a call that holds the question cannot be shared by all questions")
        return self

    def call(self, question: str) -> ToolCall:
        return ToolCall(name=self.tool, arguments={self.prompt: question} if self.prompt else {})


class Around(Frozen):
    """How many lines of its file are told above and below a line that an answer quotes. Two quotes share them."""

    above: int = Field(default=0, ge=0, le=10)
    below: int = Field(default=0, ge=0, le=10)

    @property
    def lines(self) -> int:
        return self.above + self.below


class SizedUse(Frozen):
    """What a release on a larger base is served with in place of the default's: what is named here, and no more."""

    size: str = Field(pattern=SIZE)
    system: str = ""
    tools: tuple[str, ...] = ()
    base: ModelFile | None = None
    limits: Limits | None = None
    opening: Opening | None = None
    hint: Opening | None = None


class Subagent(Frozen):
    """`subagent.toml`. `system` is the one line that a tuned model sees in place of the skill's text.

    readers   whose facts the tools ask: bundled readers by name, the folder's own as `FILE:NAME`, a reader in FILE.py.
              Without any: all bundled ones
    quotes    the lines around one that an answer quotes
    hint      a call about the question that follows the opening
    sizes     what a release on a larger base, such as `0.5b`, has in place of these
    """

    system: str = Field(min_length=1, max_length=120)
    tools: tuple[str, ...] = ()
    readers: tuple[Annotated[str, Field(pattern=READER)], ...] = ()
    base: ModelFile
    workspace: WorkspaceUse = WorkspaceUse()
    sandbox: SandboxUse = SandboxUse()
    mcp: tuple[McpServer, ...] = Field(default=(), max_length=10, validate_default=True)
    limits: Limits = Limits()
    opening: Opening | None = None
    hint: Opening | None = None
    quotes: Around = Around()
    sizes: tuple[SizedUse, ...] = ()

    @property
    def opening_calls(self) -> int:
        """Return how many calls its runs begin with."""
        return sum(call is not None for call in (self.opening, self.hint))

    @field_validator("tools")
    @classmethod
    def distinct(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(names)) < len(names):
            raise ValueError("expected each tool once")
        return names

    @field_validator("mcp")
    @classmethod
    def able(cls, servers: tuple[McpServer, ...], info: ValidationInfo) -> tuple[McpServer, ...]:
        if not (servers or info.data.get("tools", True)):
            raise ValueError("expected tools, or MCP servers that bring some")
        if len({server.name for server in servers}) < len(servers):
            raise ValueError("expected each server once")
        return servers

    @field_validator("opening", "hint")
    @classmethod
    def possible(cls, opening: Opening | None, info: ValidationInfo) -> Opening | None:
        if opening and opening.tool not in (tools := info.data.get("tools", ())):
            raise ValueError(f"expected one of its tools ({', '.join(tools)})")
        return opening

    @model_validator(mode="after")
    def sizable(self) -> Self:
        if len({one.size for one in self.sizes}) < len(self.sizes):
            raise ValueError("expected each size once")
        for one in self.sizes:
            self.sized(one.size)
        return self

    def sized(self, size: str) -> Self:
        """Return what a release of this size is served with; itself if the size has nothing of its own."""
        if not (own := next((one for one in self.sizes if one.size == size), None)):
            return self
        common = self.model_dump(exclude_unset=True, exclude={"sizes"})
        return self.model_validate(common | own.model_dump(exclude_unset=True, exclude={"size"}))


class Frontmatter(BaseModel):
    """The fields of the specification; others are a skill's own business."""

    model_config = ConfigDict(frozen=True, str_strip_whitespace=True)
    name: str = Field(pattern=NAME, max_length=64)
    description: str = Field(min_length=1, max_length=1_024)
    license: str | None = None
    compatibility: str | None = Field(default=None, max_length=500)
    metadata: dict[str, str] = {}
    allowed_tools: str | None = Field(default=None, alias="allowed-tools")


class Skill(Frozen):
    """`instructions` is the body of SKILL.md: what an untrained model is told. `licence` may be empty.

    toolset   of the tools that the skill's folder brings, if it brings any
    readers   references to the readers that it names (facts/worker.py)
    """

    name: str
    description: str
    licence: str = ""
    instructions: str
    subagent: Subagent
    toolset: InstanceOf[Toolset] | None = None
    readers: tuple[str, ...] = ()

    def sized(self, size: str) -> "Skill":
        """Return the skill as a release of this size is served, such as `0.5b`; itself for the default release."""
        return self.model_copy(update={"subagent": self.subagent.sized(size)})

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Return the tools that it names. Those of its own folder take the place of bundled ones of their name."""
        own = {tool.name: tool for tool in fact_tools(self.readers)} if self.readers else {}
        own |= self.toolset.by_name if self.toolset else {}
        return tuple(own[name] if name in own else TOOLS[name] for name in self.subagent.tools)

    @property
    def executes(self) -> bool:
        """Return whether what it answers depends on more than files: something is executed for it."""
        return bool(self.subagent.mcp) or any(tool.executes for tool in self.tools)


def load_skill(folder: Path) -> Skill:
    """Return the skill with the tools that its folder brings, which runs the code of those.

    Raise SkillError, which says which file, which field and what was expected; UntrustedError if its code may not run.
    """
    skill = read_skill(folder)
    readers = reader_references(folder, skill.subagent.readers)
    skill = skill.model_copy(update={"toolset": load_toolset(folder), "readers": readers})
    for size in ("", *(one.size for one in skill.subagent.sizes)):
        if problem := _problem(skill.sized(size)):
            raise SkillError(folder / "subagent.toml", *problem)
    return skill


def read_skill(folder: Path) -> Skill:
    """Return the skill as far as it can be read without running any code of its folder. Raise SkillError."""
    head, body = _frontmatter(folder / "SKILL.md")
    if head.name != (expected := folder.absolute().name):
        raise SkillError(folder / "SKILL.md", "name", f"must equal the folder's name {expected!r}, is {head.name!r}")
    return Skill(
        name=head.name,
        description=head.description,
        licence=head.license or "",
        instructions=body,
        subagent=_subagent(folder / "subagent.toml"),
    )


def _problem(skill: Skill) -> tuple[str, str] | None:
    """Return the field of subagent.toml that does not fit the tools there are, and what was expected."""
    known = dict.fromkeys((*(skill.toolset.by_name if skill.toolset else ()), *TOOLS))
    if unknown := [name for name in skill.subagent.tools if name not in known]:
        return "tools", f"no tool called {unknown[0]!r}; the tools are {', '.join(known)}"
    begun = filter(None, (skill.subagent.opening, skill.subagent.hint))
    return next(filter(None, (_opening_problem(skill, opening) for opening in begun)), None)


def _opening_problem(skill: Skill, opening: Opening) -> tuple[str, str] | None:
    parameters = next(one for one in skill.tools if one.name == opening.tool).schema.parameters
    if opening.prompt and opening.prompt not in (named := parameters.get("properties", {})):
        return "opening", f"{opening.tool} has no argument {opening.prompt!r}; it has {', '.join(named)}"
    if wanted := [name for name in parameters.get("required", ()) if name != opening.prompt]:
        return "opening", f"{opening.tool} wants {', '.join(wanted)}, and a run begins with the question at most"
    return None


def _frontmatter(file: Path) -> tuple[Frontmatter, str]:
    parts = re.match(r"---[ \t]*\n(.*?\n)---[ \t]*(?:\n(.*))?$", _text(file), re.DOTALL)
    if parts is None:
        raise SkillError(file, "frontmatter", "expected a first line '---', YAML fields, and a line '---'")
    head, body = _validate(file, Frontmatter, _fields(file, parts[1])), (parts[2] or "").strip()
    if not body:
        raise SkillError(file, "body", "expected instructions after the frontmatter")
    return head, body


def _fields(file: Path, text: str) -> dict[str, Any]:
    """Return every scalar as the text that it is, as the specification's own parser has it.

    A version 1.10 is not 1.1.
    """
    _check_fields(file, "frontmatter", text)
    try:
        fields = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - knows texts, lists and maps and nothing else
    except RecursionError as error:
        raise SkillError(file, "frontmatter", "is nested too deeply") from error
    except yaml.YAMLError as error:
        raise SkillError(file, "frontmatter", f"is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(fields, dict):
        raise SkillError(file, "frontmatter", f"expected lines of `field: value`, got {_shown(fields)}")
    return fields


def _subagent(file: Path) -> Subagent:
    text = _text(file)
    _check_fields(file, "file", text)
    try:
        fields = tomllib.loads(text)
    except RecursionError as error:
        raise SkillError(file, "file", "is nested too deeply") from error
    except ValueError as error:  # of tomllib, or of an int() with too many digits
        raise SkillError(file, "file", f"is not TOML: {error}") from error
    return _validate(file, Subagent, fields)


def _check_fields(file: Path, what: str, text: str) -> None:
    """Raise SkillError if parsing the text could take long."""
    if len(text) > LONGEST_FIELDS:
        raise SkillError(file, what, f"expected at most {LONGEST_FIELDS:,} characters, got {len(text):,}")
    if (brackets := text.count("[") + text.count("{")) > MOST_BRACKETS:
        raise SkillError(file, what, f"expected at most {MOST_BRACKETS} brackets, got {brackets:,}")


def _validate(file: Path, kind: type[Value], fields: Any) -> Value:
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        raise SkillError(file, *mistake(error)) from error


def mistake(error: ValidationError) -> tuple[str, str]:
    """Return the first thing that is wrong: its field; what was expected, and what came."""
    first = error.errors(include_url=False)[0]
    field = ".".join(map(str, first["loc"])) or "file"
    came = "" if first["type"] == "missing" else f", got {_shown(first['input'])}"
    return field, first["msg"].removeprefix("Value error, ") + came


def _shown(value: object) -> str:
    """Return a few of its parts: a value whose YAML refers to itself again and again has billions."""
    return one_line(reprlib.repr(value), 80)


def _text(file: Path) -> str:
    try:
        with open(file, encoding="utf-8-sig", opener=open_regular) as opened:
            text = opened.read(MOST_CHARACTERS + 1)
    except FileNotFoundError as error:
        raise SkillError(file, "file", "is missing; a skill folder holds SKILL.md and subagent.toml") from error
    except (OSError, ValueError) as error:  # a path with a NUL in it is a ValueError too
        raise SkillError(file, "file", f"cannot be read as UTF-8 text ({error})") from error
    if len(text) > MOST_CHARACTERS:
        raise SkillError(file, "file", f"expected at most {MOST_CHARACTERS:,} characters")
    return text
