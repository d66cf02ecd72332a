"""One thing that a service of a landscape logs, before it has a format."""

from dataclasses import dataclass, field

from pydantic import JsonValue


@dataclass(frozen=True, slots=True)
class Service:
    """`said` is how people and other services call it, `component` what its own entries print."""

    said: str
    component: str
    form: str
    file: str
    java: bool


@dataclass(frozen=True, slots=True)
class LogEvent:
    """`at` is in milliseconds of the day; `kind` is the same for entries of the same message but for its numbers.

    trace   the lines that follow its own
    facts   what it tells that a question may be about
    """

    at: int
    service: Service
    level: str
    kind: str
    text: str
    request: str = ""
    trace: tuple[str, ...] = ()
    facts: dict[str, JsonValue] = field(default_factory=dict)

    @property
    def message(self) -> str:
        return f"[{self.request}] {self.text}" if self.request else self.text
