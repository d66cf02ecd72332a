"""The interpreter of scripts: pydantic-monty, which runs a subset of Python in a process of its own.

A script reaches nothing but its functions: no file, no process, no network, no clock, and the same chance each time.
The process is an ordinary one otherwise: a hole in the interpreter would be one in the sandbox.
"""

import builtins
from collections.abc import Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from anyio import from_thread, to_thread

from skillstill.errors import Refusal, SkillstillError
from skillstill.tools.kit.tool import Functions, Result
from skillstill.tools.script.arguments import arguments_of
from skillstill.tools.script.values import Plain, ScriptResult
from skillstill.types import ToolCall, ToolSchema
from skillstill.util.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic_monty import CollectString, MontySession, OSPolicy, ResourceLimits

SECONDS = 2.0  # that a script computes; the time of its calls is the run's
GRACE = 1.0  # seconds after which the process is killed: a product of huge numbers does not look at the clock
LIMITS: "ResourceLimits" = {
    "max_feed_duration_secs": SECONDS,
    "max_memory": 32 << 20,  # bytes
    "max_suspensions": 200,  # calls, those that are refused too
    "max_recursion_depth": 200,
}
# Nobody here tells the time: an answer depends on the files alone, and may be remembered as long as they are the same.
NO_CLOCK: "OSPolicy" = {"datetime": "call_host", "sleep": "zero", "random_start": {"seed": 0}}
PRINTED = 4_000  # bytes
TELLS = 300  # characters of an error
MISSING = "scripts need their interpreter: type `pip install 'skillstill[script]'`"


class Interpreter:
    """Runs one script over these functions. `results` are those of its calls, in order."""

    def __init__(self, functions: Functions) -> None:
        self.results: list[Result] = []
        self._functions = functions
        self._failure: BaseException | None = None

    async def run(self, code: str, check: str) -> tuple[object, bool]:
        """Return the script's value, and whether the check holds of it. Raise Refusal if either fails.

        If the last expression has no value, what was printed is it. Raise what a function raises beside refusals.
        """
        try:
            # A thread, and not the interpreter's own asyncio pool, which may abort a process that ends soon after.
            return await to_thread.run_sync(self._run, code, check, abandon_on_cancel=True)
        finally:
            if self._failure:
                raise self._failure

    def _run(self, code: str, check: str) -> tuple[object, bool]:
        with _session() as (session, printed):
            with _told(""):
                functions = {function_name(one.name): partial(self._call, one) for one in self._functions.schemas}
                value = session.feed_run(code, external_lookup=functions, print_callback=printed)
            value = Plain()(printed.output or None if value is None else value)
            with _told(f"the check `{check}`: "):
                holds = session.feed_run(check, inputs={"value": _sent(value)}, print_callback=printed)
        return value, bool(holds)

    def _call(self, schema: ToolSchema, *given: object, **named: object) -> object:
        """Return what a call of the script finds. Raise ValueError with a sentence for the script."""
        try:
            call = ToolCall(name=schema.name, arguments=arguments_of(schema, given, named))
            result = from_thread.run(self._functions.call, call)
        except Refusal as refusal:
            raise ValueError(str(refusal)) from None
        except BaseException as error:
            self._failure = self._failure or error
            raise RuntimeError(f"{schema.name} broke down") from None
        self.results.append(result)
        return _sent(ScriptResult.of(result))


def function_name(tool: str) -> str:
    """Return how a script calls a tool: `list_` is the tool, `list` Python's own."""
    return f"{tool}_" if hasattr(builtins, tool) else tool


@contextmanager
def _session() -> "Iterator[tuple[MontySession, CollectString]]":
    """Yield a session in a new process, which ends with it, and what is printed there. Raise SkillstillError."""
    try:
        from pydantic_monty import CollectString, Monty  # optional, and 0.1 s
    except ModuleNotFoundError as error:
        raise SkillstillError(MISSING) from error
    with (
        Monty(max_processes=1, feed_duration_limit_grace=GRACE) as pool,
        pool.checkout(limits=LIMITS, os_policy=NO_CLOCK) as session,
    ):
        yield session, CollectString(max_bytes=PRINTED)


@contextmanager
def _told(what: str) -> "Iterator[None]":
    """Raise a Refusal in place of the interpreter's errors: which line, and what is wrong with it."""
    from pydantic_monty import MontyCrashedError, MontyError, MontyRuntimeError, MontySyntaxError

    try:
        yield
    except MontyCrashedError as error:
        why = f"it computes for more than {SECONDS:g} seconds" if error.timed_out else "its process broke down"
        raise Refusal(f"{what}{why}") from None
    except (MontyRuntimeError, MontySyntaxError) as error:
        frames = error.traceback()
        line = f"line {frames[-1].line}: " if frames and not what else ""
        raise Refusal(f"{what}{line}{one_line(error.display('type-msg'), TELLS)}") from None
    except MontyError as error:
        raise Refusal(f"{what}{one_line(str(error), TELLS)}") from None


def _sent(value: Any) -> Any:
    """Return a plain value as the interpreter takes it: a result is an object with attributes."""
    from pydantic_monty import ClassInstance

    if isinstance(value, ScriptResult):
        return ClassInstance(value, eager_attrs="all")
    if isinstance(value, Mapping):
        return {key: _sent(one) for key, one in value.items()}
    return type(value)(map(_sent, value)) if isinstance(value, list | tuple) else value
