"""Services, and the events that they log, before these have a format."""

from dataclasses import dataclass, field

from pydantic import JsonValue


@dataclass(frozen=True, slots=True)
class Service:
    """A service. People and other services call it `said`; its own entries print `component`."""

    said: str
    component: str
    form: str
    file: str
    java: bool


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One event. `at` is in milliseconds of the day; `kind` is the message without its numbers.

    trace   the lines below the entry's first one
    facts   what questions may be about
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
