"""What works on this machine: every part of a run is really tried, native code in a process of its own."""

import importlib
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path

from skillstill.errors import OtherFile, SandboxError, SkillstillError
from skillstill.models.bases import LocatedBase, locate_base
from skillstill.models.decoding import FormChoice
from skillstill.models.sources import locate
from skillstill.runtime import check_fresh, reason_to_remeasure
from skillstill.sandbox.choice import Setting
from skillstill.skills.registry import ListedEntry, Registry
from skillstill.skills.skill import McpServer, Skill
from skillstill.symbols import symbols
from skillstill.tools.kit.ripgrep import rg_path
from skillstill.types import Frozen, ModelSpec
from skillstill.util.loops import in_own_loop
from skillstill.util.storage import state_folder

# A build for exactly the building machine's processor can die on another one, or under a hypervisor that announces
# instructions (AMX) which it does not let through.
REBUILD = (
    'CMAKE_ARGS="-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF" pip install --force-reinstall --no-deps --no-cache-dir '
    "--no-binary llama-cpp-python llama-cpp-python==0.3.36"
)
EMBEDDED = "pip install 'skillstill[embedded]'"
REINSTALL = "pip install --force-reinstall .  # in the checkout of skillstill"


class Check(Frozen):
    """One thing that a run needs. `remedy` is a command to type, if `found` does not name it."""

    name: str
    ok: bool
    found: str
    remedy: str = ""


def examine(registry: Registry, form: FormChoice = "fast", sandbox: Setting = "auto") -> Sequence[Check]:
    """Return all checks, in the order in which a run would meet them."""
    return [
        *_environment(),
        check_sandbox(sandbox),
        *(check for listed in registry.entries() for check in (*_entry(listed, form), *check_servers(listed, sandbox))),
        *_check_ignored(registry),
    ]


def compare(spec: str) -> None:
    """Print where the base of a ModelSpec lies, and a warning if it is another file that behaves alike.

    Run in a process of its own, as `probe`.
    """
    base = _located(spec)
    print(f"{base.path}: {base.warning}")


def probe(spec: str, wish: FormChoice) -> None:
    """Load a base, as it ships and as it is served, and take one token of it; prints a line of facts.

    Run in a process of its own: it may crash.
    """
    from skillstill.models.engine import free_cores
    from skillstill.models.forms import SHIPPED, serving_form

    base = _located(spec)
    form = serving_form(base.path, base.sha256, wish, gpu_layers=None)
    if form.kind == SHIPPED:
        print(f"as it ships ({form.reason}): {_tried(base.path)}, {free_cores()} free cores")
    else:
        served = f"as {form.kind}, which differs from what ships by {form.divergence:.4f} nats a token (KL): "
        served += _tried(form.path)
        print(f"{served}; as it ships: {_tried(base.path)}, {free_cores()} free cores")


def _located(spec: str) -> LocatedBase:
    wanted = ModelSpec.model_validate_json(spec)
    try:
        return locate_base(wanted.base, wanted.base_behaviour)
    except SkillstillError as error:
        raise SystemExit(str(error)) from error


def _tried(file: Path) -> str:
    from skillstill.models.engine import Engine, EngineOptions, free_cores

    began = time.perf_counter()
    engine = Engine(file, EngineOptions(context=512, threads=free_cores()))
    loaded = time.perf_counter()
    logits = engine.decode(engine.tokenize("def main():" * 24), 0, 0)
    seconds, word = time.perf_counter() - loaded, engine.piece(int(logits.argmax()))
    engine.close()
    size = file.stat().st_size / 1e6
    return f"{size:.0f} MB, loaded in {loaded - began:.2f} s, 100 tokens read in {seconds:.2f} s, next token {word!r}"


def _environment() -> Iterator[Check]:
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    yield Check(name="system", ok=sys.version_info >= (3, 11), found=system, remedy="use Python 3.11 or newer")
    yield _try("ripgrep", REINSTALL, _ripgrep)
    yield _try("tree-sitter", REINSTALL, _tree_sitter)
    yield _try("llama.cpp", EMBEDDED, lambda: f"llama-cpp-python {version('llama-cpp-python')}")
    yield _try("llguidance", EMBEDDED, lambda: f"llguidance {_check_import('llguidance')}")
    yield _try("mcp", REINSTALL, lambda: f"mcp {_check_import('mcp')}")
    yield _try("traces", f"mkdir -p {state_folder()} && chmod u+w {state_folder()}", _state)


def _entry(listed: ListedEntry, form: FormChoice) -> Iterator[Check]:
    name, entry = listed.entry.name, listed.entry
    yield _try(f"{name}: skill", "", lambda: _skill(listed))  # its error names the file, or what to do
    spec = ModelSpec(base=entry.base, base_behaviour=entry.base_behaviour)
    base = _try(f"{name}: base", "", lambda: _base(spec))  # its error names the command itself
    yield base
    if adapter := entry.adapter:
        yield _try(f"{name}: adapter", "", lambda: str(locate(adapter)))
    if reason := reason_to_remeasure(listed):  # no failure: what is served is what was measured
        yield Check(name=f"{name}: measured", ok=True, found=reason)
    if base.ok:
        yield _try(f"{name}: llama.cpp", REBUILD, lambda: _in_process("probe", spec.model_dump_json(), form))


def check_servers(listed: ListedEntry, setting: Setting) -> Iterator[Check]:
    """Yield what each MCP server of a skill offers, started in a sandbox around an empty folder."""
    try:
        skill = listed.skill()
    except SkillstillError:  # told by the check of the skill
        return
    for server in skill.subagent.mcp:
        name = f"{listed.entry.name}: MCP server {server.name}"
        yield _try(name, "", partial(in_own_loop, _offer, server, skill, setting))


async def _offer(server: McpServer, skill: Skill, setting: Setting) -> str:
    """Return what a server offers, and what of it a run does not have. Raise SkillstillError.

    That there is no sandbox is a failure only if one was asked for by name.
    """
    from skillstill.run.servers import reason, served  # delayed, as the drivers are
    from skillstill.sandbox.choice import chosen
    from skillstill.sandbox.sandbox import SandboxPlan

    try:
        driver = await chosen(setting)
    except SandboxError as error:
        if setting not in {"auto", "none"}:
            raise
        return f"not started, so its tools are not offered ({error})"
    taken, plan = [tool.name for tool in skill.tools], SandboxPlan(limits=skill.subagent.sandbox.limits)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        try:
            async with served(server, driver, Path(folder), plan, taken) as offer:
                return offer.text
        except Exception as error:  # a group of them, or whatever a stranger's server brings about
            raise SkillstillError(reason(error)) from error


def check_sandbox(setting: Setting) -> Check:
    """Return which driver builds sandboxes here, tried. None is a failure only if one was asked for by name."""
    # Delayed, as the drivers are: only this check needs them.
    from skillstill.sandbox.choice import drivers, problems, told
    from skillstill.sandbox.trial import tried

    found = in_own_loop(problems, setting)
    works = next((name for name, problem in found.items() if not problem), None)
    if works is None:
        none = f"none, so tools that execute are not offered ({told(found)})"
        return Check(name="sandbox", ok=setting in {"auto", "none"}, found=none)
    others = "".join(f"; not {name}: {problem}" for name, problem in found.items() if problem)
    return _try("sandbox", "", lambda: in_own_loop(tried, drivers()[works]) + others)


def _base(spec: ModelSpec) -> str:
    """Return where the base lies. Another file than the measured one is compared with that, which takes native code."""
    try:
        return str(locate(spec.base))
    except OtherFile:
        if spec.base_behaviour is None:
            raise
        return _in_process("compare", spec.model_dump_json())


def _check_ignored(registry: Registry) -> Iterator[Check]:
    for path, reason in registry.ignored.items():
        yield Check(name=str(path), ok=False, found=f"ignored: {reason}")
    if reason := registry.untrusted():
        yield Check(name="project", ok=True, found=f"ignored {reason}")


def _try(name: str, remedy: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name=name, ok=True, found=look())
    except (SkillstillError, OSError, ImportError, subprocess.SubprocessError) as error:
        return Check(name=name, ok=False, found=str(error), remedy=remedy)


def _ripgrep() -> str:
    done = subprocess.run([rg_path(), "--version"], capture_output=True, text=True, check=True, timeout=20)
    return done.stdout.splitlines()[0]


def _tree_sitter() -> str:
    samples = {"python": b"def a(): 0", "javascript": b"function a() {}", "typescript": b"type A = 1",
               "go": b"package p\nfunc a() {}", "rust": b"fn a() {}", "java": b"class A {}"}  # fmt: skip
    return ", ".join(language for language, source in samples.items() if symbols(source, language))


def _check_import(module: str) -> str:
    importlib.import_module(module)
    return version(module)


def _state() -> str:
    state_folder().mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryFile(dir=state_folder()) as file:
        file.write(b"\0" * 65_536)
    return str(state_folder())


def _skill(listed: ListedEntry) -> str:
    skill = listed.skill()
    check_fresh(listed, skill)
    return f"{listed.entry.state}, {len(skill.tools)} tools"


def _in_process(function: str, *arguments: str) -> str:
    """Return what a function of this file prints. Raise SkillstillError if it fails, or takes its process with it."""
    command = [
        sys.executable,
        "-P",  # the current folder may be somebody else's code, which must not be imported
        "-c",
        f"import sys; from skillstill.console.doctor import {function}; {function}(*sys.argv[1:])",
        *arguments,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode < 0:
        raise SkillstillError(f"llama.cpp died of signal {-done.returncode}: it was built for another processor")
    if done.returncode:
        raise SkillstillError((done.stderr.strip().splitlines() or ["no output"])[-1])
    return done.stdout.strip()
