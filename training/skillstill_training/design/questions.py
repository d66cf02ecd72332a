"""What a teacher proposes to ask: questions about one workspace, each with an answer and the check that judges it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue, TypeAdapter, ValidationError
from skillstill.skills.skill import mistake

from skillstill_training.authoring.checks import Check, Judged
from skillstill_training.authoring.goal import Goal, Split, goal_id
from skillstill_training.design.topics import Topic
from skillstill_training.workspaces import BuiltWorkspace

CHECK: TypeAdapter[Check] = TypeAdapter(Check)
LENGTHS = range(8, 400)  # characters of a question

PROMPT = """\
Propose {count} questions on the topic "{topic}" about the workspace below. A subagent will answer them that sees
nothing of this message and only has the tools {tools}. Each question must
- be understood by itself, name no place of its answer, and differ from the others;
- have one right answer, which follows from the workspace alone: when in doubt, leave the question out;
- be answered in one to three short sentences; what stands in a file is quoted with its place as `path:line`.

Reply in the form {{"questions": [{{"question": "…", "answer": "…", "check": …}}]}}, with your own words for the dots.
`answer` is a whole right answer, `check` one of
{{"kind": "value", "gold": "12"}}                              one number or text, exactly as it stands there
{{"kind": "set", "gold": ["a", "b"], "others": ["c"]}}         all names, and what else might be listed by mistake
{{"kind": "locations", "gold": [{{"path": "src/a.py", "first": 3, "last": 3}}]}}   places
{{"kind": "rows", "gold": [["Ann", "3"], ["Bob", "5"]]}}       rows of a table
{{"kind": "quoted", "gold": "the exact text"}}                 a text that has to be quoted
{{"kind": "absent"}}                                           it is not there, and the answer says so
null                                                         only a person could judge the answer

The workspace {workspace}:
{glimpse}"""

JUDGED_PROMPT = """\
Propose {count} requests on the topic "{topic}" about the workspace below. A subagent will answer them that sees nothing
of this message and only has the tools {tools}. Each request must
- be understood by itself, be about something that is in this workspace, and differ from the others;
- be answered in a few lines, without any change to the workspace.

Reply in the form {{"questions": [{{"question": "…"}}]}}, with your own words for the dots.

The workspace {workspace}:
{glimpse}"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposal that has not been tried. Without a check, only agreement can speak for it."""

    topic: Topic
    workspace: str
    split: Split
    question: str
    answer: str
    check: Check | None

    @property
    def id(self) -> str:
        return goal_id(
            self.topic.family, self.workspace, self.question, self.check or CHECK.validate_python({"kind": "absent"})
        )

    @property
    def prompt(self) -> str:
        return self.question

    @property
    def is_checked(self) -> bool:
        """Return whether a program tells a right answer."""
        return self.check is not None and not isinstance(self.check, Judged)


def candidates(
    reply: Mapping[str, JsonValue], topic: Topic, built: BuiltWorkspace, rubric: Judged | None = None
) -> Iterator[Candidate | tuple[str, str]]:
    """Yield the candidates that are well formed, and the others with the reason.

    A rubric is the check of all of them, and makes an answer needless.
    """
    found = reply.get("questions")
    if not isinstance(found, list):
        yield f"{topic.text} in {built.name}", "the answer was no JSON object with a list of questions"
        return
    for one in found:
        question, answer = _field(one, "question"), _field(one, "answer")
        if len(question) not in LENGTHS or not (answer or rubric):
            yield (
                question or str(one),
                f"expected a question of {LENGTHS[0]} to {LENGTHS[-1]} characters, and an answer",
            )
            continue
        try:
            yield Candidate(topic, built.name, built.split, question, answer, rubric or _check(one))
        except ValidationError as error:
            yield question, f"its check cannot be read: {': '.join(mistake(error))}"


def _field(one: JsonValue, name: str) -> str:
    value = one.get(name) if isinstance(one, dict) else None
    return " ".join(value.split()) if isinstance(value, str) and name == "question" else str(value or "").strip()


def _check(one: JsonValue) -> Check | None:
    """Raise ValidationError."""
    value = one.get("check") if isinstance(one, dict) else None
    return None if value is None else CHECK.validate_python(value)


def goal_of(one: Candidate, skill: str) -> Goal:
    """Return what is tried: the question in its own words. Its check must be there."""
    assert one.check
    return Goal(
        id=one.id,
        skill=skill,
        family=one.topic.family,
        split=one.split,
        workspace=one.workspace,
        wording="proposed",
        prompt=one.question,
        check=one.check,
        calls=0,
        hits=0,
        answer=one.answer,
    )
