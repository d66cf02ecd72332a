"""Everything that skillstill raises on purpose.

SkillstillError                 its text is one sentence for a person: what was expected, what came, what to type
├── UsageError                  the command or call itself is wrong (exit code 64)
│   ├── UnknownName             no such skill or run
│   └── WorkspaceError          this folder cannot be a workspace
├── SkillError                  a skill folder cannot be read: file, field, what was expected
├── RegistryError               registry.json cannot be read or written
│   └── UntrustedError          code that came from somebody else may not run before its owner's `skillstill trust`
├── ClientError                 the configuration of a program that calls us cannot be read or changed
├── LibraryError                what was imported cannot be read, kept or found again
├── PackError                   a pack cannot be made, read, placed, sent or fetched
├── BaseError                   a model file is missing, altered or cannot be fetched
│   └── OtherFile               a model file lies there, and is not the one that was meant
├── ModelError                  a loaded or remote model failed
│   ├── ContextFull             the run no longer fits the model's context
│   └── ModelBusy               the model may answer the same request later: busy, broken down or out of reach
├── SandboxError                no sandbox can be had
│   └── SandboxLost             a sandbox broke down under a command
├── TraceError                  a trace cannot be stored
├── RemovalError                what is kept for the user cannot be removed
└── StageError                  a stage of the pipeline cannot go on
    ├── WorkspaceSourceError           a workspace's source cannot be had or read
    ├── GoalsError              a skill's families, wordings or recipe cannot be used
    ├── OracleError               a plan did not find what it looks for
    ├── TeacherError            a teacher cannot be used, or is too weak
    │   └── BudgetSpent         its budget is used up; what is done stays
    └── GateError               what was made is not fit for the next stage

Refusal                         not an error of ours: a tool says no, in words for the model
"""

from pathlib import Path


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


class UntrustedError(RegistryError):
    """Code that came from somebody else may not run: the sentence names the folder and the command that trusts it."""


class ClientError(SkillstillError):
    """The configuration of a program that calls us cannot be read or changed."""


class LibraryError(SkillstillError):
    """What was imported cannot be read, kept or found again."""


class PackError(SkillstillError):
    """A pack cannot be made, read, placed, sent or fetched."""


class BaseError(SkillstillError):
    """A model file is missing, altered or cannot be fetched."""


class OtherFile(BaseError):
    """A model file is not the one that was meant: where it lies, what it hashes to, how to get the right one."""

    def __init__(self, text: str, path: Path, sha256: str, remedy: str) -> None:
        super().__init__(f"{text}; {remedy}")
        self.path, self.sha256, self.remedy = path, sha256, remedy


class ModelError(SkillstillError):
    """A loaded or remote model failed."""


class ContextFull(ModelError):
    """The run no longer fits the model's context."""


class ModelBusy(ModelError):
    """The model may answer the same request later, `after` so many seconds if its server says so."""

    def __init__(self, text: str, after: float | None = None) -> None:
        super().__init__(text)
        self.after = after


class SandboxError(SkillstillError):
    """No sandbox can be had: what was tried, and what to type."""


class SandboxLost(SandboxError):
    """A sandbox broke down under a command. What it was asked may have happened."""


class TraceError(SkillstillError):
    """A trace cannot be stored."""


class RemovalError(SkillstillError):
    """What is kept for the user cannot be removed."""


class StageError(SkillstillError):
    """A stage of the pipeline cannot go on."""


class WorkspaceSourceError(StageError):
    """A workspace's source cannot be had or read."""


class GoalsError(StageError):
    """A skill's families, wordings or recipe cannot be used."""


class OracleError(StageError):
    """A plan did not find what it looks for: its goal fails, and the others go on."""


class TeacherError(StageError):
    """A teacher cannot be used, or is too weak."""


class BudgetSpent(TeacherError):
    """A teacher's budget is used up; what is done stays, and a larger budget goes on from there."""


class GateError(StageError):
    """What was made is not fit for the next stage: which measure, what was expected, what came."""


class Refusal(Exception):
    """A tool says no, in a sentence that the model can act on."""
