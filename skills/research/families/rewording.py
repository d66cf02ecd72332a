"""Words of a description as somebody says them who has not read it."""

import re
from random import Random

# What documentation writes, and what people say instead.
SAID: dict[str, tuple[str, ...]] = {
    "additional": ("extra", "more"), "allow": ("let",), "allows": ("lets",),
    "automatically": ("by itself", "on its own"), "configuration": ("config", "setup"), "contains": ("has",),
    "create": ("make",), "created": ("made",), "creates": ("makes",), "delete": ("remove",), "determine": ("decide",),
    "determines": ("decides",), "directories": ("folders",), "directory": ("folder", "dir"),
    "disable": ("turn off", "switch off"), "disables": ("turns off",), "disabled": ("turned off", "off"),
    "display": ("show",), "displays": ("shows",), "displayed": ("shown",), "enable": ("turn on", "switch on"),
    "enables": ("turns on",), "enabled": ("turned on", "on"), "execute": ("run",), "executed": ("run",),
    "function": ("func", "function"), "generate": ("make", "produce"), "ignore": ("skip",), "ignored": ("skipped",),
    "indicates": ("says",), "invoked": ("called",), "location": ("place",), "maximum": ("max", "highest"),
    "minimum": ("min", "lowest"), "modify": ("change",), "number": ("count", "number"), "obtain": ("get",),
    "omitted": ("left out",), "parameter": ("param", "argument"), "permitted": ("allowed",), "prevent": ("stop",),
    "prevents": ("stops",), "provide": ("give",), "provides": ("gives",), "receive": ("get",),
    "repository": ("repo",), "request": ("req", "request"), "required": ("needed",), "retrieve": ("get", "fetch"),
    "specified": ("given", "set"), "specifies": ("sets", "says"), "specify": ("set", "give"),
    "terminate": ("end", "stop"), "utilize": ("use",), "value": ("setting", "value"),
}  # fmt: skip
SMALL = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "into", "is", "it", "its", "of", "on", "or",
    "that", "the", "this", "to", "used", "when", "whether", "which", "will", "with",
})  # fmt: skip
OFTEN = 0.6  # how often a word is said otherwise that can be


def reworded(text: str, rng: Random) -> str:
    """Return the text with some of its words as people say them."""

    def other(found: re.Match[str]) -> str:
        ways = SAID.get(found[0].lower())
        return rng.choice(ways) if ways and rng.random() < OFTEN else found[0]

    return re.sub(r"[A-Za-z]+", other, text).replace("`", "" if rng.random() < 0.5 else "`")


def keywords(text: str, rng: Random) -> str:
    """Return some of the telling words of a text, as somebody types them into a search field."""
    words = [word for word in re.findall(r"[\w./-]+", reworded(text, rng)) if word.lower() not in SMALL]
    kept = sorted(rng.sample(range(len(words)), min(len(words), rng.randint(4, 7))))
    return " ".join(words[at] for at in kept).lower()
