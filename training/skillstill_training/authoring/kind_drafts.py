"""Drafts of declared kinds: slots and gold, found in the index of a workspace that the tool `query` asks, too."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from skillstill.errors import GoalsError, Refusal
from skillstill.facts.ask import FactRows
from skillstill.facts.index import FactIndex
from skillstill.facts.readers import BUNDLED, WORDS
from skillstill.run.evidence import quoted_places
from skillstill.skills.code import reader_references
from skillstill.skills.skill import read_skill
from skillstill.tools.kit.indexing import fresh_index
from skillstill.types import Span
from skillstill.util.loops import in_own_loop
from skillstill.workspace import Workspace

from skillstill_training.authoring.checks import Absent, Check, Declined, Locations, Members, Quoted, Value
from skillstill_training.authoring.goal import Draft
from skillstill_training.authoring.kind_plans import made_call
from skillstill_training.authoring.kinds import FILE, OF_ROW, Kind, Slots, filled_sql
from skillstill_training.authoring.numbers import is_number
from skillstill_training.workspaces import BuiltWorkspace

DRAWN = 5_000  # rows of `draw` that slots are taken from
LISTED = 12  # rows of a right answer: what a result shows
WRONG = 200  # others that might be taken for it
TWIN = 3  # every third question is also asked of something that is not there
TRIES = 20  # inventions of such a thing before it is left out


@dataclass(frozen=True, slots=True)
class KindFacts:
    """The tables of one workspace, asked for the fields of one kind. Raises GoalsError in the words of the file."""

    kind: Kind
    index: FactIndex
    file: Path

    def rows(self, field: str, query: str, kept: int) -> FactRows:
        try:
            return self.index.ask(query, kept)
        except Refusal as refusal:
            raise self.mistake(field, f"{refusal} ({query})") from refusal

    def filled(self, field: str, query: str, slots: Slots) -> str:
        try:
            return filled_sql(query, slots)
        except KeyError as error:
            raise self.no_slot(field, error.args[0], slots) from error

    def mistake(self, field: str, what: str) -> GoalsError:
        return GoalsError(f"{self.file}: kind {self.kind.name!r}: {field}: {what}")

    def no_slot(self, field: str, name: str, columns: Iterable[str]) -> GoalsError:
        return self.mistake(field, f"no slot {name!r}; the columns of draw are {', '.join(columns)}")

    def gold(self, slots: Slots) -> FactRows:
        """Return the right rows, without those of nulls."""
        most = 1 if self.kind.form in ("value", "count") else LISTED
        found = self.rows("gold", self.filled("gold", self.kind.gold, slots), most)
        if found.count > most:
            said = ", ".join(f"{name} = {value!r}" for name, value in slots.items())
            raise self.mistake("gold", f"gives {found.count} rows for {said}; a {self.kind.form} has at most {most}")
        return found

    def wrong(self, slots: Slots) -> frozenset[str]:
        if not self.kind.wrong:
            return frozenset()
        query = self.filled("wrong", self.kind.wrong, slots)
        return frozenset(str(row[0]) for row in self.rows("wrong", query, WRONG).rows if row[0] is not None)


def draft_kind(kind: Kind, skill: Path, built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield the drafts of a kind in one workspace, some of them followed by a twin about what is not there."""
    facts = KindFacts(kind, open_index(skill, built.root), skill / FILE)
    drawn = drawn_slots(facts)
    for number, slots in enumerate(rng.sample(drawn, len(drawn))):
        if check := check_of(facts, slots):
            twin = _absent_slots(facts, slots, drawn, rng) if kind.absent and number % TWIN == 0 else None
            pair = str(number) if twin else ""
            yield _draft(kind, slots, check, pair)
            if twin:
                yield _draft(kind, twin, Absent(), pair)


def open_index(skill: Path, root: Path) -> FactIndex:
    """Return the index that the skill's own tools ask. Drafts are drawn inside of an event loop, which has to wait."""
    references = reader_references(skill, read_skill(skill).subagent.readers) or tuple(BUNDLED.values())
    return in_own_loop(fresh_index, Workspace(root), (*references, WORDS))


def drawn_slots(facts: KindFacts) -> Sequence[Slots]:
    """Return the slots of all questions that can be drawn here. Raise GoalsError."""
    found = facts.rows("draw", facts.kind.draw, DRAWN)
    if lacking := {*facts.kind.loose} - {*found.columns}:
        raise facts.no_slot("loose", min(lacking), found.columns)
    _check_calls(facts, found.columns)
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows if None not in row and "" not in row]


def _check_calls(facts: KindFacts, columns: Sequence[str]) -> None:
    """Raise GoalsError for a slot of a call that neither a question nor the call before it fills."""
    known = dict.fromkeys((*columns, *OF_ROW), "")
    for field, calls in (("query", facts.kind.query), ("miss", facts.kind.miss)):
        for declared in calls:
            try:
                made_call(declared, known)
            except KeyError as error:
                raise facts.no_slot(field, error.args[0], columns) from error


def _draft(kind: Kind, slots: Slots, check: Check, pair: str) -> Draft:
    gold = check.gold if isinstance(check, Value | Quoted) else ""
    return Draft(
        check=check,
        words={name: str(value) for name, value in slots.items()},
        loose=kind.loose,
        hidden=(gold,) if gold and not is_number(gold) else (),
        facts={"numbers": {name: value for name, value in slots.items() if not isinstance(value, str)}},
        pair=pair,
    )


def check_of(facts: KindFacts, slots: Slots) -> Check | None:
    """Return what a right answer holds; None if there is none to these slots."""
    form = facts.kind.form
    if form == "declined":
        return Declined()
    found = facts.gold(slots)
    if form == "none":
        return None if found.count or found.unseen else Absent()
    rows = [row for row in found.rows if row[0] not in (None, "")]
    if not rows or (form == "count" and not rows[0][0]) or (found.unseen and form in ("count", "list")):
        return None  # a number, or a list, that some file might add to is not known to be right
    if form == "place":
        return Locations(gold=_spans(facts, found), precision=1.0)
    names = tuple(dict.fromkeys(str(row[0]) for row in rows))
    others = tuple(facts.wrong(slots) - {*names})
    if form == "list":
        return Members(gold=names, others=others)
    if quoted_places(names[0]) != ([], names[0]):  # `nginx/proxy:1.25` reads like a place, `a*b` like Markdown
        return Quoted(gold=names[0], wrong=others)
    return Value(gold=names[0], also=tuple(str(one) for one in rows[0][1:] if one is not None), wrong=others)


def _spans(facts: KindFacts, found: FactRows) -> tuple[Span, ...]:
    spans = [Span(path=one.path, first=one.first, last=one.last) for one in found.places if one and one.first]
    if len(spans) < len(found.rows):
        raise facts.mistake("gold", "its rows have no places: select from a table of files, without a count")
    return tuple(spans)


def _absent_slots(facts: KindFacts, slots: Slots, drawn: Sequence[Slots], rng: Random) -> Slots | None:
    """Return slots of which the first is something that is not there; None if nothing of the kind comes to mind."""
    name = next(iter(slots))
    for _ in range(TRIES):
        made = _invented(str(slots[name]), str(rng.choice(drawn)[name]))
        changed = {**slots, name: made}
        if made and not any(row[0] is not None for row in facts.gold(changed).rows):
            return changed
    return None


def _invented(text: str, other: str) -> str:
    """Return a text like both that is neither; empty if there is none.

    The longest word of `src/options.go` gives way to that of `reader.go`: somebody might ask for `src/reader.go`. A
    single word gets another one behind it: `web` and `db` make `web-db`.
    """
    longest, theirs = (max(re.findall(r"[^\W_]+", one), key=len, default="") for one in (text, other))
    if longest == text and not text.isdigit():
        return f"{text}-{theirs}"
    made = text.replace(longest, theirs) if longest and longest.isdigit() == theirs.isdigit() else text
    return "" if made in (text, other) or not theirs else made
