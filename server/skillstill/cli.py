"""The command line: it parses, calls and prints.

Exit codes: 0 answered or done, 2 escalate or no release, 1 failed, 64 wrong usage, 130 interrupted.
Only typer is loaded here; each command imports what it needs, so that `--help` stays fast and `run` never loads mcp.
"""

import gc
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillstill.clients.commands import bundle, install, uninstall
from skillstill.console.feedback import feedback
from skillstill.console.options import (
    After,
    Base,
    Endpoint,
    Expose,
    Form,
    GpuLayers,
    Indexes,
    Json,
    MayWrite,
    Offline,
    Project,
    RegistryFile,
    Remembers,
    Sandbox,
    SubagentName,
    Threads,
    Traces,
    Workspace,
    run_ids,
)
from skillstill.console.sandboxes import build_sandbox, use_sandbox
from skillstill.console.settings import settings
from skillstill.console.stats import stats
from skillstill.errors import SkillstillError, UsageError
from skillstill.library.commands.assessing import assess
from skillstill.library.commands.importing import export_skill, import_
from skillstill.library.commands.searching import search
from skillstill.models.decoding import FormChoice
from skillstill.packs.commands import pack, pull, push, unpack
from skillstill.util.hosts import leads_here
from skillstill.util.text import shorten

if TYPE_CHECKING:
    from skillstill.runtime import Runtime
    from skillstill.types import Models

EXIT_CODES = {"answered": 0, "escalate": 2, "failed": 1}
FAILED, USAGE, INTERRUPTED = 1, 64, 130
PIPELINE = {command.name: command for command in entry_points(group="skillstill.commands")}  # unknown to the runtime
USE, TRAIN, LIBRARY, SHARE, CLIENTS = "Use", "Train", "Library", "Share", "Clients"  # panels of the help
app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Small local models as subagents: run one here, or serve them all as MCP tools.",
    epilog="Exit codes: 0 answered or done, 2 escalate or no release, 1 failed, 64 wrong usage, 130 interrupted.",
)


def _say_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"skillstill {version('skillstill')}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_say_version)
    ] = False,
) -> None:
    """Read the options that stand before a command."""
    if context.invoked_subcommand != "purge":  # it removes the file, which may be the reason
        context.default_map = _defaults(context, settings())


def _defaults(context: typer.Context, said: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the configuration file says to each command.

    To the pipeline's, `--registry` and `--base` mean others.
    """
    commands = context.command.commands if said else {}  # type: ignore[attr-defined]
    return {
        name: {key: said[key] for key in parameters & said.keys() if key == "offline" or name not in PIPELINE}
        for name, parameters in ((name, {one.name for one in command.params}) for name, command in commands.items())
    }


@app.command(rich_help_panel=USE)
def run(
    subagent: SubagentName,
    prompt: Annotated[str, typer.Argument(help="What you want to know; - reads it from standard input.")],
    workspace: Workspace = Path(),
    after: After = "",
    json: Json = False,
    base: Base = None,
    registry: RegistryFile = None,
    endpoint: Endpoint = None,
    offline: Offline = False,
    gpu_layers: GpuLayers = "auto",
    threads: Threads = None,
    form: Form = "fast",
    sandbox: Sandbox = "auto",
    write: MayWrite = False,
    patch: Annotated[
        Path | None, typer.Option(help="Write what was changed in a copy of the folder to this file, for `git apply`.")
    ] = None,
    trace: Traces = True,
    remember: Remembers = True,
    index: Indexes = True,
) -> int:
    """Let a subagent answer one question about a folder.

    Example: skillstill run explore "Find all places that call retry" --workspace ~/src/app
    """
    import anyio

    from skillstill.console import show

    project = workspace.expanduser()
    models = _models(endpoint, offline, gpu_layers, threads, form, slots=1)
    use_sandbox(sandbox)
    _keep_indexes(index)
    runtime = _runtime(registry, project, models, base, trace, remember, write)
    show.warn_untrusted(runtime.registry)
    text, earlier = _read_all() if prompt == "-" else prompt, runtime.earlier(after) if after else None
    with show.steps_on_terminal() as on_step:
        finished = anyio.run(lambda: runtime.run(subagent, text, project, on_step, after=earlier))
    if patch:
        show.write_patch(finished, patch)
        finished = finished.model_copy(update={"patch": ""})
    show.print_report(finished, as_json=json)
    return EXIT_CODES[finished.report.status]


@app.command(rich_help_panel=USE)
def delegate(
    task: Annotated[str, typer.Argument(help="What you want to know; - reads it from standard input.")],
    workspace: Workspace = Path(),
    after: After = "",
    json: Json = False,
    base: Base = None,
    registry: RegistryFile = None,
    endpoint: Endpoint = None,
    offline: Offline = False,
    gpu_layers: GpuLayers = "auto",
    threads: Threads = None,
    form: Form = "fast",
    sandbox: Sandbox = "auto",
    write: MayWrite = False,
    trace: Traces = True,
    remember: Remembers = True,
    index: Indexes = True,
) -> int:
    """Let the subagent that a task is for answer it, or say at once that none fits.

    Example: skillstill delegate "Which error came most often?" --workspace ~/logs
    """
    import anyio

    from skillstill.console import show
    from skillstill.console.delegate import delegate, print_delegated

    project = workspace.expanduser()
    models = _models(endpoint, offline, gpu_layers, threads, form, slots=1)
    use_sandbox(sandbox)
    _keep_indexes(index)
    runtime = _runtime(registry, project, models, base, trace, remember, write)
    show.warn_untrusted(runtime.registry)
    text, earlier = _read_all() if task == "-" else task, runtime.earlier(after) if after else None
    finished = anyio.run(delegate, runtime, text, project, earlier)
    print_delegated(finished, as_json=json)
    return EXIT_CODES[finished.report.status]


@app.command(rich_help_panel=USE)
def serve(
    workspace: Workspace = Path(),
    base: Base = None,
    registry: RegistryFile = None,
    endpoint: Endpoint = None,
    offline: Offline = False,
    gpu_layers: GpuLayers = "auto",
    threads: Threads = None,
    form: Form = "fast",
    sandbox: Sandbox = "auto",
    write: MayWrite = False,
    slots: Annotated[int, typer.Option(min=1, max=64, help="Runs at once; each keeps its context in memory.")] = 4,
    http: Annotated[
        int | None,
        typer.Option(min=0, max=65_535, help="Serve streamable HTTP on this port (0: a free one) instead."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; off loopback a token and --allowed-host are needed.")
    ] = "127.0.0.1",
    allowed_host: Annotated[list[str] | None, typer.Option(help="A name that clients call this machine by.")] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            envvar="SKILLSTILL_TOKEN_FILE", help="Lines of `CLIENT: TOKEN`; each client sees only its own runs."
        ),
    ] = None,
    log_json: Annotated[bool, typer.Option("--log-json", help="Log one JSON object a line.")] = False,
    expose: Expose = "each",
    trace: Traces = True,
    remember: Remembers = True,
    index: Indexes = True,
) -> int:
    """Serve every subagent as an MCP tool over standard input and output, or over HTTP.

    HTTP clients must bear the token in SKILLSTILL_TOKEN or their own in --token-file. On loopback, if there is neither,
    one is made up.

    Example: claude mcp add skillstill -- skillstill serve
    """
    with _no_garbage_yet():
        from skillstill.server import build, logs, serve_stdio
        from skillstill.workspace import Workspace as Folder

        logs.configure(as_json=log_json, level=_log_level(logging.INFO if log_json else logging.WARNING))
        folder = Folder(workspace).root
        models = _models(endpoint, offline, gpu_layers, threads, form, slots)
        use_sandbox(sandbox)
        _keep_indexes(index)
        runtime = _runtime(registry, folder, models, base, trace, remember, write)
        server = build(runtime, folder, slots, expose=expose)
    if http is None:
        serve_stdio(server)
    else:
        import anyio

        from skillstill.server.http import HttpOptions, serve_http
        from skillstill.server.tokens import read_tokens

        token, clients = os.environ.get("SKILLSTILL_TOKEN", ""), read_tokens(token_file) if token_file else {}
        anyio.run(serve_http, server, HttpOptions(host, http, token, clients, tuple(allowed_host or ())))
    return 0


@app.command("list", rich_help_panel=USE)
def list_(workspace: Project = Path(), registry: RegistryFile = None, json: Json = False) -> int:
    """List the subagents, their state and the registry that each comes from."""
    from skillstill.console import show
    from skillstill.skills.registry import Registry

    show.print_entries(Registry(registry, workspace.expanduser()), as_json=json)
    return 0


@app.command("show", rich_help_panel=USE)
def show_(
    run: Annotated[
        str, typer.Argument(help="A run id, the beginning of one, or `last`.", autocompletion=run_ids)
    ] = "last",
    list: Annotated[bool, typer.Option("--list", help="List the stored runs instead.")] = False,
    json: Json = False,
) -> int:
    """Show what happened in a run: every call, every result, the report."""
    from skillstill.console import show
    from skillstill.run import store

    if list:
        show.print_runs(as_json=json)
    else:
        show.print_transcript(store.load(run), as_json=json)
    return 0


@app.command(rich_help_panel=USE)
def top(once: Annotated[bool, typer.Option("--once", help="Look once.")] = False, json: Json = False) -> int:
    """Show what the serving processes do: runs, queues, tokens a second, cache hits, memory. Ctrl-C ends it."""
    from skillstill.console import top

    top.show(once=once, as_json=json)
    return 0


@app.command(rich_help_panel=USE)
def doctor(
    workspace: Project = Path(),
    registry: RegistryFile = None,
    form: Form = "fast",
    sandbox: Sandbox = "auto",
    json: Json = False,
) -> int:
    """Try everything that a run needs on this machine, and say what to type if something is missing."""
    from skillstill.console import doctor, show
    from skillstill.skills.registry import Registry

    checks = doctor.examine(Registry(registry, workspace.expanduser()), form, sandbox)
    show.print_checks(checks, as_json=json)
    return 0 if all(check.ok for check in checks) else FAILED


@app.command(rich_help_panel=USE)
def rollback(
    subagent: SubagentName,
    workspace: Project = Path(),
    registry: RegistryFile = None,
    newer: Annotated[bool, typer.Option("--forward", help="Go forward again to what a rollback left.")] = False,
    offline: Offline = False,
) -> int:
    """Go back to the release before, or to the untrained entry; once more, and it goes back further.

    Nothing is deleted: `releases/` in the skill's folder keeps what stood before. A bundled subagent goes back for you
    alone.
    """
    from skillstill.console import show
    from skillstill.skills.registry import Registry
    from skillstill.skills.releases import forward, rollback

    found = Registry(registry, project := workspace.expanduser())
    listed = found.entry(subagent)
    step = forward if newer else rollback
    show.print_rollback(step(listed, offline=offline), listed.entry)
    show.warn_untrusted(Registry(registry, project))
    return 0


@app.command(rich_help_panel=USE)
def trust(
    project: Annotated[
        Path, typer.Argument(help="A folder whose .skillstill/ you have looked at, or that of a pack.")
    ] = Path(),
    forget: Annotated[bool, typer.Option("--forget", help="Take it back.")] = False,
) -> int:
    """Let a project's own .skillstill/ count, or the Python of an unpacked pack run: exactly as they are now."""
    from skillstill.console import show
    from skillstill.skills.trust import distrust, trust, trustable

    folder = trustable(project.expanduser())
    if forget:
        distrust(folder)
    else:
        show.print_trusted(folder, trust(folder))
    return 0


@app.command(rich_help_panel=USE)
def forget(
    workspace: Annotated[Path, typer.Option("--workspace", "-w", help="The folder to forget.")] = Path(),
    everything: Annotated[bool, typer.Option("--all", help="Forget all folders.")] = False,
) -> int:
    """Forget what was read of a folder, learned and said of runs there, and all remembered answers.

    The next question reads it anew.
    """
    from skillstill.routing.experience import forget_experience
    from skillstill.run.feedback import forget_feedback
    from skillstill.run.memory import forget_answers, forget_folder

    forget_experience(folder := None if everything else workspace.expanduser().resolve())
    found = forget_folder(folder), forget_feedback(folder), forget_answers()
    typer.echo("forgot {} indexes, {} pieces of feedback, {} answers".format(*found))
    return 0


@app.command(rich_help_panel=USE)
def purge(yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False) -> int:
    """Remove all that skillstill keeps for you: subagents, library, traces, caches, settings, models that it fetched.

    Lists it with sizes and asks first. Workspaces, run folders and the entries of clients stay.
    """
    from skillstill.console import removal, show

    found = removal.stored_items()
    show.print_stored(found)
    if not found:
        return 0
    if not yes and not sys.stdin.isatty():
        raise UsageError("nobody is there to ask: type `skillstill purge --yes`")
    if yes or typer.confirm("Remove all of it for good?"):
        removal.remove(found)
    return 0


PANELS: Mapping[str, Sequence[tuple[str, Callable[..., int]]]] = {
    USE: [("feedback", feedback), ("stats", stats), ("build-sandbox", build_sandbox)],
    LIBRARY: [("import", import_), ("search", search), ("assess", assess), ("export-skill", export_skill)],
    SHARE: [("pack", pack), ("unpack", unpack), ("push", push), ("pull", pull)],
    CLIENTS: [("install", install), ("uninstall", uninstall), ("bundle", bundle)],
}
for _command in PIPELINE.values():
    app.command(_command.name, rich_help_panel=TRAIN)(_command.load())
for _panel, _commands in PANELS.items():
    for _name, _own in _commands:
        app.command(_name, rich_help_panel=_panel)(_own)


def main() -> None:
    """Run the command line."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="skillstill: %(message)s")
    logging.getLogger("skillstill").setLevel(_log_level(logging.WARNING))
    sys.exit(_exit_code())


def _exit_code() -> int:
    try:
        return app(standalone_mode=False, prog_name="skillstill") or 0
    except typer.TyperException as error:
        return _complain(error.format_message(), USAGE)
    except UsageError as error:
        return _complain(str(error), USAGE)
    except SkillstillError as error:
        return _complain(str(error), FAILED)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except OSError as error:  # standard output is full or nobody reads it; Python would complain again at its end
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
        return FAILED if isinstance(error, BrokenPipeError) else _complain(f"cannot write: {error.strerror}", FAILED)


def _log_level(default: int) -> int:
    """Return the level of SKILLSTILL_LOG (debug, info, warning), else the default. At debug, logs hold exceptions."""
    return logging.getLevelNamesMapping().get(os.environ.get("SKILLSTILL_LOG", "").upper(), default)


def _complain(sentence: str, code: int) -> int:
    if sentence:  # empty if the help was shown instead
        typer.echo(f"skillstill: {sentence}", err=True)
    return code


def _read_all() -> str:
    """Return what stands on standard input, in whatever locale.

    Bytes that are not UTF-8 are left for the runtime to name.
    """
    if not sys.stdin:
        raise UsageError("the prompt is -, but standard input is closed")
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")


@contextmanager
def _no_garbage_yet() -> Iterator[None]:
    """Switch garbage collection off for imports: it takes a tenth of the start and finds little."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _keep_indexes(wanted: bool) -> None:
    if not wanted:
        from skillstill.run.memory import keep_no_index

        keep_no_index()


def _runtime(
    registry: Path | None,
    project: Path,
    models: "Models",
    base: Path | None,
    trace: bool,
    remember: bool,
    may_write: bool,
) -> "Runtime":
    from skillstill.models.sources import model_file
    from skillstill.runtime import Runtime
    from skillstill.skills.registry import Registry

    file = model_file(base) if base else None
    return Runtime(Registry(registry, project), models, file, trace, remember and trace, may_write)


def _models(
    endpoints: Sequence[str] | None, offline: bool, gpu_layers: str, threads: int | None, form: FormChoice, slots: int
) -> "Models":
    from skillstill.models.pool import HERE, LocalModels, LocalOptions, RemoteModels

    servers = [one for one in endpoints or () if one != HERE]
    keys = os.environ.get("SKILLSTILL_ENDPOINT_KEY", "")
    if offline and not all(map(leads_here, servers)):
        raise UsageError("--offline uses no endpoint off this machine, which would be sent what the tools show")
    if servers and HERE not in (endpoints or ()):
        return RemoteModels(servers, keys)
    if gpu_layers != "auto" and not re.fullmatch("[0-9]{1,3}", gpu_layers):
        raise UsageError(f"--gpu-layers is `auto` or a number up to 999, not {shorten(gpu_layers, 20)!r}")
    here = LocalModels(LocalOptions(offline, None if gpu_layers == "auto" else int(gpu_layers), threads, slots, form))
    return RemoteModels(servers, keys, here) if servers else here


if __name__ == "__main__":
    main()
