"""The step `rename_words`: code that a model may have read before, in words that it can't have read there.

The telling words of what the tree defines are exchanged for plain ones, everywhere: identifiers, comments, texts,
prose, names of files. Code is never run here, so a consistent exchange of words is enough. What it does not hide:
the structure of the code, and words that an imported name holds too.
"""

import re
import shutil
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from random import Random

from pydantic import JsonValue

from skillstill_training.workspaces import tree as trees
from skillstill_training.workspaces.steps import vocabulary
from skillstill_training.workspaces.steps.definitions import Definitions, definitions
from skillstill_training.workspaces.steps.notes import read_notes, write_notes
from skillstill_training.workspaces.steps.python import SURROGATES, parse

SHARE = 0.6  # of the telling words: the most frequent ones carry what a model could recognise
# A word as it stands in identifiers and prose. First what only looks like words: escapes, numbers in base 16.
TOKEN = re.compile(
    r"\\N\{[^}]*\}|\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\[A-Za-z]|\b0[xX][0-9a-fA-F_]+"
    r"|[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
)
FIELDS = {"description", "files", "lines"}  # of a noted change
Rename = Callable[[str], str]


def rename_words(tree: Path, rng: Random) -> dict[str, JsonValue]:
    """Note `renamed`, a count, and `words`: {old: new}. What earlier steps noted is renamed as well."""
    texts = dict(_texts(tree))
    found = definitions(texts)
    words = _chosen(texts, found, rng)
    rename = renamer(words, names=vocabulary.packages(texts), stay=vocabulary.staying(found))
    _rewrite(tree, texts, rename)
    write_notes(tree, {name: _in_values(value, rename) for name, value in read_notes(tree).items()})
    return {"renamed": len(words), "words": {**words}}


def renamer(words: Mapping[str, str], names: Iterable[str] = (), stay: Container[str] = ()) -> Rename:
    """Return a function that exchanges words, in each of their forms and cases, in any text.

    `names` are also found where their parts begin with capitals: LangExtract, of langextract. Forms in `stay` stay.
    """
    forms = {form: new + ending for old, new in words.items() for form, ending in vocabulary.forms(old)}
    forms = {form: new for form, new in forms.items() if not (form in stay or form in vocabulary.common())} | {**words}
    articles = re.compile(rf"\b([Aa])n( +)(?=(?:{'|'.join(sorted(words.values())) or '$'}))")

    @cache  # of the same few thousand tokens again and again
    def exchanged(token: str) -> str:
        new = forms.get(token.lower())
        return token if new is None or not token.isalpha() else _cased(new, like=token)

    own = "|".join(sorted(name for name in names if name in words)) or "$."
    compound = re.compile(rf"(?<![A-Za-z\\])(?=[A-Z][a-z]+[A-Z])(?i:{own})(?![a-z])")

    def rename(text: str) -> str:
        text = compound.sub(lambda match: _cased(words[match[0].lower()], like="Title"), text)
        text = TOKEN.sub(lambda match: exchanged(match[0]), text)
        return articles.sub(r"\1\2", text)  # no new word begins with a vowel

    return rename


def _cased(word: str, like: str) -> str:
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word[0].upper() + word[1:] if like[0].isupper() else word


def _chosen(texts: Mapping[str, str], found: Definitions, rng: Random) -> dict[str, str]:
    """Return the exchange: the most frequent telling words, and of our vocabulary what the tree has in no form."""
    counts = vocabulary.count(token for text in (*texts, *texts.values()) for token in TOKEN.findall(text))
    packages = vocabulary.packages(texts)  # a project's name tells most
    telling = vocabulary.telling(found, counts) - packages
    often = {word: sum(counts[form] for form, _ in vocabulary.forms(word)) for word in telling}
    ordered = sorted(telling, key=lambda word: (-often[word], word))
    free = [word for word in vocabulary.plain() if not any(form in counts for form, _ in vocabulary.forms(word))]
    rng.shuffle(free)
    return dict(zip([*sorted(packages), *ordered[: round(len(ordered) * SHARE)]], free, strict=False))


def _texts(tree: Path) -> Iterator[tuple[str, str]]:
    """Yield the text files by their path; bytes that are not UTF-8 come back as they were."""
    for name in trees.files(tree):
        if b"\0" not in (data := (tree / name).read_bytes())[:8192]:
            yield name, data.decode("utf-8", SURROGATES)


def _rewrite(tree: Path, texts: Mapping[str, str], rename: Rename) -> None:
    """Write renamed files in place of the tree. A file that parsed before and does not now is left out."""
    renamed = tree.with_name(f"{tree.name}.renamed")
    for name in trees.files(tree):
        target = renamed / rename(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if name not in texts:
            shutil.copyfile(tree / name, target)
        elif _still_parses(name, texts[name], text := rename(texts[name])):
            target.write_bytes(text.encode("utf-8", SURROGATES))
    shutil.rmtree(tree)
    renamed.rename(tree)


def _still_parses(name: str, before: str, after: str) -> bool:
    if not name.endswith(".py"):
        return True
    old, new = (text.encode("utf-8", SURROGATES) for text in (before, after))
    return parse(new) is not None or parse(old) is None


def _in_values(value: JsonValue, rename: Rename) -> JsonValue:
    """Return the value with keys renamed below the top level, where paths and names are, but not those of a change."""
    if isinstance(value, str):
        return rename(value)
    if isinstance(value, list):
        return [_in_values(one, rename) for one in value]
    if isinstance(value, dict):
        return {key if key in FIELDS else rename(key): _in_values(one, rename) for key, one in value.items()}
    return value
