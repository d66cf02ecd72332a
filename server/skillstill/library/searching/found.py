"""What there is for a task: subagents that can be called now, then what in the library one could be made of."""

from collections.abc import Mapping

from skillstill.errors import UsageError
from skillstill.library.assessing import PredictedCheck, Verdict, assess
from skillstill.library.catalogue import Catalogue, database, index
from skillstill.library.catalogue.embeddings import encoder
from skillstill.library.catalogue.passages import Passage, first_sentence, words
from skillstill.library.definition import Kind, Licence
from skillstill.library.searching import DefinitionHit, Shared, rank, search, shared_words_of
from skillstill.skills.registry import Measured, Registry, RegistryEntry
from skillstill.types import Frozen
from skillstill.util.text import one_line

SENTENCE = 200  # characters of a description
CLOSE = 0.3  # cosine; of a task and a text that has nothing to do with it, 92 to 98 in 100 lie below
ADDRESS = 120  # of a source, a path, a licence's name


class FoundSubagent(Frozen):
    """One that can be called. `why`: what it shares with the task."""

    name: str
    description: str
    why: str
    released: bool
    measured: Measured | None = None


class FoundDefinition(Frozen):
    """One of the library.

    variants     how many others in it are much the same
    verdict      whether a subagent can be made of it
    check        what would judge its answers
    suspicious   it holds what its reader does not see, or speaks to a model about its rules
    """

    name: str
    key: str
    kind: Kind
    description: str
    why: str
    verdict: Verdict
    check: PredictedCheck
    licence: Licence
    source: str
    path: str
    variants: int
    findings: int
    suspicious: bool


class FindResult(Frozen):
    """Strangers' texts in it are cleaned, and no longer than a sentence. `by_meaning`: not by words alone."""

    subagents: tuple[FoundSubagent, ...]
    definitions: tuple[FoundDefinition, ...]
    by_meaning: bool


def find(task: str, registry: Registry, catalogue: Catalogue, limit: int) -> FindResult:
    """Return at most `limit` of each. Raise UsageError if the task has no words, and LibraryError."""
    if not words(task):
        raise UsageError("expected a few words that say what you need, like `web design`")
    subagents = _subagents([listed.entry for listed in registry.entries()], task)[:limit]
    definitions = [_definition(hit) for hit in search(catalogue, task, limit)]
    return FindResult(subagents=tuple(subagents), definitions=tuple(definitions), by_meaning=encoder() is not None)


def _subagents(entries: list[RegistryEntry], task: str) -> list[FoundSubagent]:
    """Return those that fit, released ones first.

    They stand before all else, so they must be CLOSE, or have half of what the task's words weigh among them.
    """
    with database.in_memory() as connection:
        index.put(connection, [(number, _passage(entry)) for number, entry in enumerate(entries)], encoder())
        matrix = index.matrix(connection)
        order = rank(connection, matrix, task)
        weights = index.word_weights(connection, task)
        found = list(zip(order, shared_words_of(connection, matrix, task, order), strict=True))
    enough = sum(weights.values()) / 2
    fitting = [(entries[at], why) for at, why in found if why.nearness > CLOSE or _weight(why, weights) >= enough > 0]
    return sorted((_subagent(entry, why) for entry, why in fitting), key=lambda one: not one.released)


def _weight(shared_words_of: Shared, weights: Mapping[str, float]) -> float:
    return sum(weights[word] for word in shared_words_of.words)


def _passage(entry: RegistryEntry) -> Passage:
    return Passage(entry.name, f"{entry.title}. {entry.description}", labels=entry.search_hint)


def _subagent(entry: RegistryEntry, shared_words_of: Shared) -> FoundSubagent:
    return FoundSubagent(
        name=entry.name,
        description=first_sentence(entry.description, SENTENCE),
        why=shared_words_of.why,
        released=entry.state == "released",
        measured=entry.measured,
    )


def _definition(hit: DefinitionHit) -> FoundDefinition:
    one = hit.definition
    assessment = assess(one)
    return FoundDefinition(
        name=one.name,
        key=one.key,
        kind=one.kind,
        description=first_sentence(one.description, SENTENCE),
        why=hit.shared.why,
        verdict=assessment.verdict,
        check=assessment.check,
        licence=one.licence.model_copy(update={"name": one_line(one.licence.name, ADDRESS)}),
        source=one_line(one.origin.source, ADDRESS),
        path=one_line(one.origin.path, ADDRESS),
        variants=hit.variants,
        findings=len(one.findings),
        suspicious=bool(one.suspicions),
    )
