"""Options that several commands take, worded once. Only typer is loaded here, as in `cli`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from skillstill.console.settings import MAX_THREADS
from skillstill.models.decoding import FormChoice
from skillstill.sandbox.choice import ENVIRONMENT, Setting


def subagents(incomplete: str) -> Sequence[tuple[str, str]]:
    """Return names and titles, for a shell that completes what was typed so far."""
    from skillstill.skills.registry import Registry

    entries = [listed.entry for listed in Registry(None, Path()).entries()]
    return [(entry.name, entry.title) for entry in entries if entry.name.startswith(incomplete)]


def run_ids(incomplete: str) -> Sequence[str]:
    """Return the ids of stored runs, the latest first, for a shell that completes what was typed so far."""
    from skillstill.run.store import ids

    return [run for run in ("last", *ids()) if run.startswith(incomplete)]


SubagentName = Annotated[str, typer.Argument(help="A name that `skillstill list` shows.", autocompletion=subagents)]
RegistryFile = Annotated[
    Path | None, typer.Option("--registry", help="A registry.json that comes first, like SKILLSTILL_REGISTRY.")
]
After = Annotated[
    str,
    typer.Option(
        "--after",
        metavar="RUN",
        help="A run that this question goes on from, by its id or `last`.",
        autocompletion=run_ids,
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON value for a program.")]
Workspace = Annotated[Path, typer.Option("--workspace", "-w", help="The one folder that a subagent may look at.")]
Project = Annotated[Path, typer.Option("--workspace", "-w", help="The folder whose own subagents count, too.")]
Offline = Annotated[
    bool,
    typer.Option(
        "--offline", envvar="SKILLSTILL_OFFLINE", help="Fetch nothing from a hub, use no endpoint off this machine."
    ),
]
GpuLayers = Annotated[
    str,
    typer.Option(
        "--gpu-layers", envvar="SKILLSTILL_GPU_LAYERS", help="Layers on the graphics processor: auto or a number."
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        max=MAX_THREADS,
        envvar="SKILLSTILL_THREADS",
        help="Default: the cores free at the start.",
    ),
]
Form = Annotated[
    FormChoice,
    typer.Option(
        "--form",
        envvar="SKILLSTILL_FORM",
        help="Load a base in a faster form that is made of it once and kept in the cache, or as it is shipped.",
    ),
]
Sandbox = Annotated[
    Setting,
    typer.Option(
        "--sandbox", envvar=ENVIRONMENT, help="What builds the sandboxes of tools that execute; auto: what works here."
    ),
]
MayWrite = Annotated[
    bool,
    typer.Option("--write", help="Let subagents that ask for it change the folder, not a copy of it."),
]
Expose = Annotated[
    Literal["each", "delegate", "both"],
    typer.Option("--expose", help="Each subagent as a tool, one tool `delegate` in place of all, or both."),
]
Base = Annotated[
    Path | None,
    typer.Option("--base", help="Another ChatML GGUF file for entries that are untrained.", show_default=False),
]
Endpoint = Annotated[
    list[str] | None,
    typer.Option(
        "--endpoint",
        metavar="URL[#MODEL]",
        envvar="SKILLSTILL_ENDPOINT",
        help="A server instead of llama.cpp here: vLLM, llama-server or any with an OpenAI interface. Give several, "
        "and `here` for this machine if none of them can answer. Their keys: SKILLSTILL_ENDPOINT_KEY, one, or one "
        "each. A server is sent the prompt and all that the tools show.",
        show_default=False,
    ),
]
Traces = Annotated[bool, typer.Option("--trace/--no-trace", help="Keep a trace of the run for `show`, for 30 days.")]
Remembers = Annotated[
    bool,
    typer.Option("--remember/--no-remember", help="Answer the same question about unchanged files as before, at once."),
]
Indexes = Annotated[
    bool, typer.Option("--index/--no-index", help="Keep what was read of a folder for the next question, in the cache.")
]
