"""Everything that skillstill raises on purpose.

SkillstillError                 its text is one sentence for a person: what was expected, what came, what to type
├── UsageError                  the command or call itself is wrong (exit code 64)
│   ├── UnknownName             no such skill or run
│   └── WorkspaceError          this folder cannot be a workspace
├── SkillError                  a skill folder cannot be read: file, field, what was expected
├── RegistryError               registry.json cannot be read or written
├── ClientError                 the configuration of a program that calls us cannot be read or changed
├── BaseError                   a model file is missing, altered or cannot be fetched
├── ModelError                  a loaded or remote model failed
│   └── ContextFull             the run no longer fits the model's context
└── TraceError                  a trace cannot be stored

Refusal                         not an error of ours: a tool says no, in words for the model
"""


class SkillstillError(Exception):
    """One sentence for the person who reads it."""


class UsageError(SkillstillError):
    """The command or call itself is wrong."""


class UnknownName(UsageError):
    """No skill or run of this name."""


class WorkspaceError(UsageError):
    """This folder cannot be a workspace."""


class SkillError(SkillstillError):
    """A skill folder cannot be read."""

    def __init__(self, file: object, field: str, expected: str) -> None:
        super().__init__(f"{file}: {field}: {expected}")


class RegistryError(SkillstillError):
    """registry.json cannot be read or written."""


class ClientError(SkillstillError):
    """The configuration of a program that calls us cannot be read or changed."""


class BaseError(SkillstillError):
    """A model file is missing, altered or cannot be fetched."""


class ModelError(SkillstillError):
    """A loaded or remote model failed."""


class ContextFull(ModelError):
    """The run no longer fits the model's context."""


class TraceError(SkillstillError):
    """A trace cannot be stored."""


class Refusal(Exception):
    """A tool says no, in a sentence that the model can act on."""
