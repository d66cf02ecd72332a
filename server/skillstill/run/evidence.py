"""No claim without a receipt: what an answer quotes must have been shown by a tool of the same run."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from skillstill.types import Receipt, Span

BEFORE = r"(?<![A-Za-z0-9_/.@+-])"  # where a path can begin; a letter of another script may stand before one
LINES = r":(\d{1,9})(?:-(\d{1,9}))?(?::\d+)?(?!\d)"  # a line or a range, and perhaps a column
LOCATION = re.compile(rf"{BEFORE}((?:~?/|\.{{1,2}}/)?[\w.@+/-]*\w){LINES}")
RECEIPT = re.compile(r"(?<![\w/.=-])r\d{1,3}(?![\w/-]|\.\w)")
REFERENCE = re.compile(
    r"(?<![\w=])==?(?:r\d{1,3}|[A-Z]{1,2}(?::\d{1,9})?)(?![\w=])"
)  # to a line or rows: one that is left in an answer leads nowhere
# Says that there is none. "No, it is 3" answers another question, unless it goes on to say so.
DENIES = re.compile(
    r"\W*(?:there (?:is|are|was|were) (?:no|none|not|nothing)|none|nothing|no(?= +[\w`\"'])|no(?=\W*(?:\(|$))"
    r"|no(?=[,.;:!–—-][^\n]*\b(?:there (?:is|are|was|were) (?:no|none|nothing)|no such|nothing|(?-i:none))\b))\b",
    re.IGNORECASE,
)
COMPLETE = re.compile(r"\b(?:all|only|every|no(?:ne)? others?|nothing else)\b", re.IGNORECASE)
QUOTED_LINE = re.compile(r"^\W*: .*$", re.MULTILINE)  # what is left of `path:line: text` without its place
CITATION = re.compile(r"\([^()]*\br\d{1,3}\b[^()]*\)")
WORD = re.compile(r"[^\W\d_]{3,}")
CITED = re.compile(r"[(,]\s*(r\d{1,3})\b")


def _behind(found: re.Match[str]) -> str:
    """Return `lines 3 to 5 of src/app.py` with the path first."""
    return f"{found[3]}:{found[1]}" + (f"-{found[2]}" if found[2] else "")


# Other ways to write `path:line`, each with what stands for it.
SPELLINGS = (
    (re.compile(r"https?://\S+"), " "),
    (re.compile(r"[–—]"), "-"),
    (re.compile(r"[`*]"), ""),
    (re.compile(r"(?<=\w)(?:#|::?)L?(?=\d)"), ":"),
    (re.compile(r"\blines? (\d{1,9})(?:(?:-| to )(\d{1,9}))? (?:of|in) ([\w.@+/-]*\w)", re.IGNORECASE), _behind),
    (re.compile(r"(?<=[\w/])[:,]? \(?(?:(?:at|on) )?lines? (?=\d)", re.IGNORECASE), ":"),
    (re.compile(r"(?<=\d)(?:-L| to )(?=\d)"), "-"),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The evidence of an answer, or (`problem`) why it has none; `subject` is what the problem is about."""

    evidence: tuple[str, ...] = ()
    problem: str = ""
    subject: str = ""


def judge(answer: str, receipts: Sequence[Receipt], shown: Sequence[str], root: str = "") -> Verdict:
    """Return what in the answer is vouched for. `shown` are the results of tools, `root` is the workspace's path.

    Evidence is each quoted `path:line` that a receipt covers, and each receipt that is named; without either, the
    receipt of each quoted path. A quoted location that no receipt covers, and that stands in no result either (as
    `host:8080` might), is an invention, and spoils the whole answer; so does a receipt that does not exist, and an
    absence that the results do not bear out.
    """
    good = [receipt for receipt in receipts if not receipt.refused]
    if not good:
        return Verdict(problem="it was given without a successful tool call")
    if any(not _stands_as_word(one, shown) for one in REFERENCE.findall(answer)):
        return Verdict(problem="it refers to lines that no result has")
    if wrong := invented_place(answer, good, shown, root):
        return Verdict(problem=f"it names {wrong}, which no tool has shown", subject=wrong)
    if wrong := _unknown_receipt(answer, receipts, shown):
        return Verdict(problem=f"it names {wrong}, which is no result", subject=wrong)
    places = [f"{place.path}:{place.first}" for place in shown_places(answer, good, root)]
    named = [receipt.id for receipt in good if receipt.id in RECEIPT.findall(answer)]
    found = tuple(dict.fromkeys([*places, *named])) or tuple(_receipts_of_paths(answer, good))
    if DENIES.match(answer) and not places and (wrong := _why_not_absent(answer, receipts, found, shown)):
        return Verdict(problem=wrong)
    return Verdict(found) if found else Verdict(problem=_without_evidence(answer, receipts))


def _without_evidence(answer: str, receipts: Sequence[Receipt]) -> str:
    named = next((receipt.id for receipt in receipts if receipt.id in RECEIPT.findall(answer)), "")
    return f"it rests on {named}, a call that was refused" if named else "it names no location and no receipt"


def _why_not_absent(answer: str, receipts: Sequence[Receipt], cited: Sequence[str], shown: Sequence[str]) -> str:
    """Return what in the run speaks against an absence, or "" if a cited result bears it out and nothing does.

    What only a script has read speaks against it too: a script may drop what it found.
    """
    looks = [one for receipt in receipts for one in (receipt, *receipt.calls) if not (one.guess or one.refused)]
    if not looks:
        return "it says that there is none, but only likely places were looked at"
    for receipt in looks:
        if place := next((span for span in receipt.spans if span.first), None):
            return f"it says that there is none, but {receipt.id} shows {_quote(place)}"
        if receipt.missed:
            return f"it says that there is none, but {receipt.missed}"
        if receipt.omitted:
            return f"it says that there is none, but {receipt.id} leaves {receipt.omitted} out"
    resting = [receipt for receipt in looks if receipt.id in cited]
    is_unnamed = any(receipt.overview for receipt in resting) and _names_something_new(answer, shown)
    if is_unnamed or any(receipt.empty for receipt in resting):
        return ""
    return "it says that there is none, but nothing that it rests on found nothing"


def _names_something_new(answer: str, shown: Sequence[str]) -> bool:
    """Return whether a word of what the answer denies stands in no result."""
    denied = CITATION.sub(" ", DENIES.sub("", answer, count=1))
    known = {word.casefold() for text in shown for word in WORD.findall(text)}
    return any(word.casefold() not in known for word in WORD.findall(denied))


def incomplete_notes(answer: str, cited: Sequence[str], receipts: Sequence[Receipt]) -> tuple[str, ...]:
    """Return a note for each result with more than is shown, if the answer tells what is shown as if it were all.

    That is, if it tells several places of it, or rests on it (`cited`) and says that these are all.
    """
    places, rest = _known_places(answer, receipts, "")
    told = {(place.path, place.first) for place in places}
    claimed = supporting_receipts(cited, receipts) if COMPLETE.search(QUOTED_LINE.sub("", rest)) else ()
    notes = (_note(receipt, told, is_claimed=receipt in claimed) for receipt in receipts if receipt.omitted)
    return tuple(note for note in notes if note)


def _note(receipt: Receipt, told: Collection[tuple[str, int]], *, is_claimed: bool) -> str:
    shown = {(span.path, span.first) for span in receipt.spans if span.first}
    some, every = len(shown & {*told}), len(shown) + receipt.omitted
    if some > 1 or (is_claimed and shown):
        return f"({some or len(shown)} of {every} that {receipt.id} found.)"
    return f"({receipt.id} leaves {receipt.omitted} out.)" if is_claimed else ""


def overlooked_notes(cited: Sequence[str], receipts: Sequence[Receipt]) -> tuple[str, ...]:
    """Return why results that an answer rests on may lack something: the first, the last, a count may be others."""
    reasons = dict.fromkeys(one.overlooked for one in supporting_receipts(cited, receipts) if one.overlooked)
    return tuple(f"({text[0].upper()}{text[1:]}.)" for text in reasons)


def supporting_receipts(cited: Sequence[str], receipts: Sequence[Receipt]) -> Sequence[Receipt]:
    """Return the results that an answer with this evidence rests on: those that it names, or that show its places."""
    named = {*cited}
    return [one for one in receipts if not one.refused and (one.id in named or _shows_any(one, named))]


def _shows_any(receipt: Receipt, places: Collection[str]) -> bool:
    found = [(path, int(line)) for path, _, line in (place.rpartition(":") for place in places) if path]
    return any(
        span.path == path and span.first and span.first <= line <= span.last
        for span in receipt.spans
        for path, line in found
    )


def invented_place(text: str, receipts: Sequence[Receipt], shown: Sequence[str], root: str = "") -> str:
    """Return the first location in the text that nothing bears out, as it is quoted there; empty if there is none."""
    places, rest = _known_places(text, receipts, root)
    claimed = [*(place for place in places if not _is_covered(place, receipts)), *quoted_places(rest)[0]]
    return next((_quote(place) for place in claimed if not _stands_in(_quote(place), shown)), "")


def shown_places(text: str, receipts: Sequence[Receipt], root: str = "") -> list[Span]:
    """Return the places that a text names as `path:line` and a tool has shown."""
    return [place for place in _known_places(text, receipts, root)[0] if _is_covered(place, receipts)]


def shown_paths(text: str, receipts: Sequence[Receipt]) -> list[str]:
    """Return the paths that a text names and a tool has shown."""
    return sorted({span.path for receipt in receipts for span in receipt.spans if _names(text, span.path)})


def quoted_places(text: str) -> tuple[list[Span], str]:
    """Return the places that a text names as `path:line`, shown by a tool or not, and the text without them."""
    spelled = _normalised(text)
    found = [match for match in LOCATION.finditer(spelled) if _looks_like_path(match[1])]
    for match in reversed(found):
        spelled = f"{spelled[: match.start()]} {spelled[match.end() :]}"
    return [_span(*match.groups()) for match in found], spelled


def last_places(receipts: Sequence[Receipt], limit: int = 5) -> tuple[str, ...]:
    """Return the first place that each of the last receipts showed: what a hand-off can pass on."""
    firsts = (next((span for span in receipt.spans if span.first), None) for receipt in reversed(receipts))
    return tuple(dict.fromkeys(f"{span.path}:{span.first}" for span in firsts if span))[:limit]


def _unknown_receipt(answer: str, receipts: Sequence[Receipt], shown: Sequence[str]) -> str:
    """Return the first named receipt that does not exist, unless it is a name of theirs: `def join_by(key, r1, r2)`."""
    known = {receipt.id for receipt in receipts}
    cited = (name for name in CITED.findall(answer) if name not in known)
    return next((name for name in cited if not any(re.search(rf"\b{name}\b", one) for one in shown)), "")


def _known_places(text: str, receipts: Sequence[Receipt], root: str) -> tuple[list[Span], str]:
    """Return the quoted places in files that a tool has named, whatever characters their paths have.

    The text without them.
    """
    places: list[Span] = []
    rest = _normalised(text)
    paths = {span.path for receipt in receipts for span in receipt.spans}
    for path in sorted(paths, key=lambda path: (-len(path), path)):  # in one order in every process
        prefix = f"(?:\\./|{re.escape(root)}/)?" if root else r"(?:\./)?"
        quote = re.compile(f"{BEFORE}{prefix}{re.escape(path)}{LINES}")
        places += [_span(path, *lines) for lines in quote.findall(rest)]
        rest = quote.sub(" ", rest)
    return places, rest


def _span(path: str, first: str, last: str | None) -> Span:
    return Span(path=path, first=int(first), last=int(last or first))


def _normalised(text: str) -> str:
    for pattern, plain in SPELLINGS:
        text = pattern.sub(plain, text)
    return text


def _is_covered(place: Span, receipts: Sequence[Receipt]) -> bool:
    """Return whether both ends of the quoted lines were shown."""
    spans = [span for receipt in receipts for span in receipt.spans if span.path == place.path and span.first]
    return all(any(span.first <= line <= span.last for span in spans) for line in (place.first, place.last))


def _quote(place: Span) -> str:
    return f"{place.path}:{place.first}" + (f"-{place.last}" if place.last != place.first else "")


def _looks_like_path(text: str) -> bool:
    return "/" in text or re.search(r"\.[A-Za-z]\w*$", text) is not None


def _stands_as_word(text: str, shown: Iterable[str]) -> bool:
    return any(re.search(rf"(?<![\w=]){re.escape(text)}(?![\w=])", one) for one in shown)


def _stands_in(text: str, shown: Iterable[str]) -> bool:
    return any(re.search(rf"{BEFORE}{re.escape(text)}(?!\d)", one) for one in shown)


def _receipts_of_paths(answer: str, receipts: Sequence[Receipt]) -> list[str]:
    """Return the receipts that showed a path which the answer quotes.

    One with a folder or suffix, or any in backticks.
    """
    return [receipt.id for receipt in receipts if any(_names(answer, span.path) for span in receipt.spans)]


def _names(answer: str, path: str) -> bool:
    if not _looks_like_path(path):
        return f"`{path}`" in answer
    return re.search(rf"{BEFORE}(?:\./)?{re.escape(path)}(?![\w/-]|\.\w)", answer) is not None
