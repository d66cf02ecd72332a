"""What a person or a program sees: live steps on a terminal, plain text in a pipe, JSON if asked for."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from rich.console import Console
from rich.text import Text

from skillstill.console.doctor import Check
from skillstill.console.removal import StoredItem
from skillstill.errors import SkillstillError, UsageError
from skillstill.run import store
from skillstill.runtime import reason_to_remeasure
from skillstill.skills.code import untrusted_tools
from skillstill.skills.registry import ListedEntry, Registry, RegistryEntry
from skillstill.skills.sizes import best_size
from skillstill.skills.skill import McpServer, read_skill
from skillstill.types import OnStep, Step, Trace
from skillstill.util.text import clean, one_line, shorten
from skillstill.util.waiting import heard_by

STYLES = {"answered": "green", "escalate": "yellow", "failed": "red"}
_out = Console(soft_wrap=True, highlight=False, markup=False)
_err = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)


@contextmanager
def steps_on_terminal() -> Iterator[OnStep | None]:
    """Return a callback that shows each step on standard error while a person is watching; None in a pipe."""
    if not _err.is_terminal:
        yield None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # nothing in a pipe needs them

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=_err, transient=True) as bar:
        task = bar.add_task("thinking", total=None)

        async def on_step(step: Step) -> None:
            bar.print(Text(_step(step), style="dim"))
            bar.update(task, description=f"thinking, step {step.number + 1} of {step.limit}")

        async def on_reading(text: str) -> None:
            bar.update(task, description=text)

        with heard_by(on_reading):
            yield on_step


def print_report(trace: Trace, *, as_json: bool) -> None:
    """Print the answer on standard output, and what it cost on standard error, if that is a terminal."""
    if as_json:
        return _json(_summary(trace))
    _out.print(Text(trace.report.said))
    for place in trace.report.evidence:
        _out.print(Text(f"  {place}", style="cyan"))
    if leads := trace.report.text.removeprefix(trace.report.said).lstrip("\n"):
        _out.print(Text(leads))
    if trace.patch:
        _out.print(Text(clean(trace.patch)), end="")
    if _err.is_terminal:
        _err.print(Text(_cost(trace), style=STYLES[trace.report.status]))
    return None


def write_patch(trace: Trace, file: Path) -> None:
    """Write what the run changed, for `git apply`; an empty file if nothing. Raise UsageError if it cannot."""
    try:
        file.write_bytes(trace.patch.encode())
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error


def print_transcript(trace: Trace, *, as_json: bool) -> None:
    """Print the whole run, message by message."""
    if as_json:
        print(trace.model_dump_json())
        return
    _out.print(Text(f"run {trace.run}  {trace.release}  {trace.created:%Y-%m-%d %H:%M}  {trace.workspace}", "bold"))
    _out.print(Text(f"model {trace.model}  dialect {trace.dialect}"))
    for before, message in pairwise(trace.messages):
        begun = (before.role, message.role) == ("user", "tool")  # no model called for that
        role = f"{message.role}: {trace.receipts[0].tool}, which each run begins with" if begun else message.role
        calls = "\n".join(f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}" for call in message.calls)
        text = clean("\n".join(filter(None, [message.content, calls])))
        _out.print()
        _out.print(Text(role, style="bold"), Text(text), sep="\n")
    _out.print()
    _out.print(Text(trace.report.status, style=STYLES[trace.report.status]), Text(trace.report.text), sep="\n")
    _out.print(Text(_cost(trace)))


def print_runs(*, as_json: bool) -> None:
    """Print one line for each stored trace, oldest first."""
    traces = list(store.readable())
    if as_json:
        return _json([_summary(trace) for trace in traces])
    for trace in traces:
        when = trace.created.astimezone().strftime("%Y-%m-%d %H:%M")
        line = f"{trace.run[:12]}  {when}  {trace.skill}  {trace.report.status:9} {one_line(trace.prompt, 60)}"
        _out.print(Text(line))
    return None


def print_entries(registry: Registry, *, as_json: bool) -> None:
    """Print each entry with its origin, and on standard error what was ignored and why."""
    listed = registry.entries()
    if as_json:
        _json([_entry(one) for one in listed])
    else:
        for one in listed:
            _out.print(Text(f"{one.entry.label}  {one.entry.state}", style="bold"))
            _out.print(Text(f"  {one.entry.description}\n  base {one.entry.base.source}\n  from {one.origin}"))
            if measured := one.entry.measured:
                _out.print(Text(f"  measured: {measured.figures}"))
            if claim := one.entry.claimed:
                _out.print(Text(f"  {claim.verified}: claimed by its pack, not measured here"))
            for server in _declared_servers(one):
                _out.print(Text(f"  MCP server {server.name}, in a sandbox: {server.line}"))
            if reason := untrusted_tools(one.skill_folder):
                _out.print(Text(f"  cannot run, it brings its own tools: {reason}", style="yellow"))
            for reason in best_size(registry.sizes(one.entry.name)).why:
                _out.print(Text(f"  {reason}", style="yellow"))
    for one in listed:
        if reason := reason_to_remeasure(one):
            _err.print(Text(f"{one.entry.name}: {reason}", style="yellow"))
    warn_untrusted(registry)


def _declared_servers(listed: ListedEntry) -> Sequence[McpServer]:
    """Return the MCP servers of an entry; none if its folder cannot be read, of which `doctor` tells."""
    try:
        return read_skill(listed.skill_folder).subagent.mcp
    except SkillstillError:
        return ()


def _entry(listed: ListedEntry) -> dict[str, object]:
    """Return an entry for a program. `untrusted` says why a subagent that brings tools cannot run."""
    reason = untrusted_tools(listed.skill_folder)
    fields = listed.entry.model_dump(exclude_none=True) | ({"untrusted": reason} if reason else {})
    return {"origin": str(listed.origin), **fields}


def warn_untrusted(registry: Registry) -> None:
    """Print on standard error that the project has subagents of its own which do not count."""
    if reason := registry.untrusted():
        _err.print(Text(f"ignored {reason}", style="yellow"))


def print_checks(found: Sequence[Check], *, as_json: bool) -> None:
    """Print what works here, and what to type if something does not."""
    if as_json:
        return _json([check.model_dump() for check in found])
    for check in found:
        mark = Text("ok   ", style="green") if check.ok else Text("FAIL ", style="red")
        _out.print(mark + Text(f"{check.name}: {check.found}"))
        if check.remedy and not check.ok:
            _out.print(Text(f"     type: {check.remedy}"))
    failed = [check.name for check in found if not check.ok]
    _out.print(f"{len(failed)} of {len(found)} failed: {', '.join(failed)}" if failed else f"all {len(found)} work")
    return None


def print_stored(found: Sequence[StoredItem]) -> None:
    """Print what is stored where, and how large it is."""
    for one in found:
        _out.print(Text(f"{_size(one.size):>9}  {one.what}: {one.path}"))
    _out.print(Text(f"{_size(sum(one.size for one in found)):>9}  in all" if found else "nothing is stored"))


def _size(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB" if size >= 100_000 else f"{size / 1_000:.1f} kB"


def print_trusted(folder: Path, fingerprint: str) -> None:
    _out.print(Text(f"trusted {folder.resolve()} as it is now ({fingerprint[:12]}); any change takes that back"))


def print_rollback(entry: RegistryEntry, left: RegistryEntry) -> None:
    """Print which release counts now, and which does not any more."""
    _out.print(Text(f"{entry.name} is again {_release(entry)}; before this it was {_release(left)}"))


def _release(entry: RegistryEntry) -> str:
    solved = f", {entry.measured.verified}" if entry.measured else ""
    adapter = f" {entry.adapter.sha256[:12]}" if entry.adapter else ""
    return f"{entry.state}{adapter}{solved}"


def _json(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False), file=sys.stdout)


def _summary(trace: Trace) -> dict[str, object]:
    return {
        "answer": trace.report.said,
        "status": trace.report.status,
        "evidence": trace.report.evidence,
        **({"leads": [*map(str, trace.report.leads)]} if trace.report.leads else {}),
        **({"patch": trace.patch} if trace.patch else {}),
        "run": trace.run,
        "release": trace.release,
        "confidence": trace.confidence,
        "steps": len(trace.receipts),
        **trace.tally.model_dump(),
    }


def _step(step: Step) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in step.call.arguments.items()) if step.call else ""
    call = f"{step.call.name}({shorten(arguments, 70)})" if step.call else ""
    outcome = step.note or (step.receipt.excerpt.partition("\n")[0] if step.receipt else "")
    return f"{step.number}/{step.limit} {call} -> {shorten(outcome, 70)}"


def _cost(trace: Trace) -> str:
    tally = trace.tally
    tokens = f"{tally.read_tokens} tokens read and {tally.completion_tokens} written here"
    calls = f"{len(trace.receipts)} call{'' if len(trace.receipts) == 1 else 's'}"
    return f"{trace.report.status}: {calls}, {tally.seconds:.1f} s, {tokens}; run {trace.run[:12]}"
