"""The verdicts on a definition, best first."""

from typing import Literal

Verdict = Literal["verifiable", "partly verifiable", "not verifiable", "needs a remote service", "compile to a script"]
VERDICTS: tuple[Verdict, ...] = (
    "verifiable",
    "partly verifiable",
    "not verifiable",
    "needs a remote service",
    "compile to a script",
)
FIT: tuple[Verdict, ...] = ("verifiable", "partly verifiable")  # a program can check the result, or a part of it
