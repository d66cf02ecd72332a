"""From a draft to the words of a prompt: slots filled, now and then loosely, with a typo, or limited to a place."""

import re
from collections.abc import Mapping, Sequence
from random import Random

from skillstill.errors import GoalsError

from skillstill_training.authoring.families import slots
from skillstill_training.authoring.goal import Draft
from skillstill_training.run.recipe import SpeechConfig

SHORTEST_TYPO = 5  # letters of a word that may hold a typo; a shorter one would be another word


def say(draft: Draft, wordings: Sequence[str], speech: SpeechConfig, rng: Random) -> tuple[list[str], dict[str, str]]:
    """Return a prompt in each wording, and the words of the slots as all of them say them, in one place or anywhere.

    Raise GoalsError for a slot that has no word.
    """
    words = dict(draft.words)
    for slot in draft.loose:
        if rng.random() < speech.loose:
            words[slot] = loosely(words[slot], rng)
    place = f"In {draft.scope}: " if draft.scope and rng.random() < speech.scoped else ""
    return [place + _filled(wording, words, speech, rng) for wording in wordings], words


def _filled(wording: str, words: Mapping[str, str], speech: SpeechConfig, rng: Random) -> str:
    if lacking := slots(wording) - words.keys():
        raise GoalsError(f"the wording {wording!r} has the slot {min(lacking)!r}; known: {', '.join(words)}")
    text = mistyped(wording, rng) if rng.random() < speech.typo else wording
    said = text.format_map(words)
    return said if all(words[slot] for slot in slots(wording)) else _tidied(said)


def _tidied(text: str) -> str:
    """Return the text without traces of empty slots: no blank before a comma, no comma at either end."""
    text = re.sub(r"\s+(?=[,.;:?!)])", "", text.replace("()", ""))
    return re.sub(r"\s{2,}", " ", text).strip(" ,;:-–—")


def loosely(name: str, rng: Random) -> str:
    """Return how somebody says an identifier who half remembers it.

    `Retry.back_off` as `back off`, `backoff`, `Back_Off`.
    """
    last = name.rpartition(".")[2]
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", last).replace("_", " ").strip().lower()
    said = [name.lower(), last, spaced, spaced.replace(" ", "_"), spaced.replace(" ", "-"), name.swapcase()]
    others = [one for one in dict.fromkeys(said) if one and one != name]
    return rng.choice(others) if others else name


def mistyped(wording: str, rng: Random) -> str:
    """Return the wording with two neighbouring letters of one word swapped; slots stay as they are."""
    places = [
        match.start() + at
        for match in re.finditer(rf"(?<![{{\w])[A-Za-z]{{{SHORTEST_TYPO},}}(?![}}\w])", wording)
        for at in range(1, len(match[0]) - 2)
        if match[0][at] != match[0][at + 1]
    ]
    if not places:
        return wording
    at = rng.choice(places)
    return wording[:at] + wording[at + 1] + wording[at] + wording[at + 2 :]


def normal(prompt: str) -> str:
    """Return the words of a prompt in small letters: prompts that differ only otherwise are one."""
    return " ".join("".join(letter if letter.isalnum() else " " for letter in prompt.lower()).split())
