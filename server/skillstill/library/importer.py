"""From a source to the library: read, shown to a person if it is suspicious, and only then kept."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import perf_counter

from skillstill.errors import LibraryError
from skillstill.library.catalogue import Catalogue
from skillstill.library.catalogue.blobs import Blobs
from skillstill.library.definition import UNSAFE, Definition
from skillstill.library.reading.licences import SHARE_ALIKE
from skillstill.library.scanning import Scan, scan
from skillstill.library.scanning.fetch import FetchedSource
from skillstill.types import Frozen

Accept = Callable[[Sequence[Definition]], bool]


class ImportSummary(Frozen):
    """What came of one source, counted. `error` if it could not be read at all.

    findings   what was repaired and which rules are broken, each with its path; `repaired` and `lint` count it
    refusals   what `refused` counts, each with its path
    """

    source: str
    commit: str = ""
    error: str = ""
    kinds: Mapping[str, int] = {}
    new: int = 0
    changed: int = 0
    known: int = 0
    gone: int = 0
    unchanged_folders: int = 0
    repaired: Mapping[str, int] = {}
    lint: Mapping[str, int] = {}
    findings: tuple[tuple[str, str], ...] = ()
    suspicious: int = 0
    refused: Mapping[str, int] = {}
    refusals: tuple[tuple[str, str], ...] = ()
    licences: Mapping[str, int] = {}
    share_alike: Mapping[str, int] = {}
    scripts: int = 0
    seconds: float = 0


def import_source(source: FetchedSource, catalogue: Catalogue, blobs: Blobs, accept: Accept) -> ImportSummary:
    """Import a source. Raise LibraryError.

    `accept` is asked once, with all suspicious definitions, before anything is kept.
    """
    begun = perf_counter()
    found = scan(source.place, source.name, source.commit, catalogue.folders(source.name), source.tree_ids)
    doubtful = [one for one in found.definitions if one.suspicions]
    if doubtful and not accept(doubtful):
        found = found.without(doubtful, "suspicious, and not accepted")
    found = _keep_content(found, source, blobs)
    added = catalogue.add(found.definitions, found.source, found.folders)
    return summary(found, perf_counter() - begun).model_copy(
        update={"new": added.new, "changed": added.changed, "known": added.known, "gone": added.gone}
    )


def _keep_content(found: Scan, source: FetchedSource, blobs: Blobs) -> Scan:
    """Return the scan without what changed since it was read."""
    root = source.place.resolve()
    root = root.parent if root.is_file() else root
    for one in found.definitions:
        folder = (root / one.origin.path).parent
        try:
            blobs.put((root / one.origin.path).resolve(), one.key)
            for file in one.bundle:
                blobs.put((folder / file.path).resolve(), file.sha256)
        except LibraryError as error:
            found = found.without([one], str(error))
    return found


def summary(found: Scan, seconds: float) -> ImportSummary:
    """Return the counts by kind, by the rule that a finding begins with and by the reason of a refusal."""
    every = found.definitions
    return ImportSummary(
        source=found.source,
        commit=found.commit,
        kinds=_count(one.kind for one in every),
        unchanged_folders=len(found.unchanged),
        repaired=_rules(every, "repaired"),
        lint=_rules(every, "lint"),
        findings=tuple(_report(every)),
        suspicious=sum(bool(one.suspicions) for one in every),
        refused=_count(refused.reason for refused in found.refused),
        refusals=tuple((refused.path, refused.reason) for refused in found.refused),
        licences=_count(one.licence.derived_works for one in every),
        share_alike=_count(one.licence.name for one in every if one.licence.name in SHARE_ALIKE),
        scripts=sum(any(file.script for file in one.bundle) for one in every),
        seconds=round(seconds, 3),
    )


def _rules(every: Iterable[Definition], kind: str) -> Mapping[str, int]:
    """Return how many definitions break each rule, however often."""
    rules = ({f.text.partition(":")[0] for f in one.findings if f.kind == kind} for one in every)
    return _count(rule for found in rules for rule in found)


def _report(every: Iterable[Definition]) -> Iterator[tuple[str, str]]:
    for one in every:
        for found in one.findings:
            if found.kind not in UNSAFE:  # those a person has been shown
                yield one.origin.path, f"{found.kind}: {found.text}"


def _count(names: Iterable[str]) -> Mapping[str, int]:
    return dict(Counter(names).most_common())
