"""Skills of strangers, as their authors might have written them, and folders that they work on."""

from collections.abc import Callable
from pathlib import Path

from tests.scenes import write

EXPLORER = """\
---
name: Code Tracer
description: Traces execution paths: finds where functions are defined and which call chains lead there
tools: Glob, Grep, LS, Read, WebFetch
color: yellow
---
You trace how a feature of a codebase works.

## Approach
- Find entry points and locate the core functions
- Follow call chains, note error handling and raised exceptions

Always include specific file paths and line numbers.
"""
LOGS = """\
---
name: outage-reader
description: Search log files for error patterns and spikes, and identify which component failed first.
---
Read the logs. Correlate errors with deployments. Report error rates and a timeline with evidence.
"""
SETTINGS = """\
---
name: settings-finder
description: Find the value of a setting in the files of a service, and look up which files set it.
tools: Read, Grep, Glob
---
Locate the setting, never infer it. Report what is there with file:line references as evidence.
"""
TASTE = """\
---
name: tasteful-pages
description: Design beautiful pages with a distinctive visual style. Guidance for typography and colour.
---
You are an expert designer. Choose a bold aesthetic direction.
"""
PACKAGE = '''\
"""{Noun} things."""

LIMIT_{NOUN} = {number}


class {Noun}Error(Exception):
    """When a {noun} is lost."""


class Base{Noun}:
    """What all {noun} kinds share."""

    def weigh_{noun}(self, amount: int, factor: int = {number}) -> int:
        """Compute how heavy the {noun} becomes with so much {verb}ing of it."""
        if amount < 0:
            raise {Noun}Error(amount)
        return amount * factor

    def close_{noun}(self) -> None:
        """Give the {noun} back to whoever has lent it before the evening."""
        self.open = False


class Small{Noun}(Base{Noun}):
    """A {noun} for travellers."""

    def weigh_{noun}(self, amount: int, factor: int = 2) -> int:
        """Compute the weight of a travelling {noun} from its {verb}ing."""
        return amount + LIMIT_{NOUN}


def make_{noun}(small: bool = False) -> Base{Noun}:
    """Build the {noun} that fits the traveller who asks for {verb}ing."""
    return Small{Noun}() if small else Base{Noun}()


def {verb}_{noun}(amount: int) -> int:
    """{Verb} a fresh {noun} and tell what came of that."""
    return make_{noun}().weigh_{noun}(amount)


def {verb}_again_{noun}(amount: int) -> int:
    """{Verb} a second {noun} after the first one was closed."""
    make_{noun}(True).close_{noun}()
    return {verb}_{noun}(amount)
'''
NOUNS = {
    "alder": ("kettle", "lantern", "saddle", "ribbon", "walnut"),
    "birch": ("magnet", "pebble", "thimble", "harbor", "meadow"),
    "cedar": ("funnel", "beacon", "cursor", "barrel", "anchor"),
}
VERBS = ("polish", "paint", "fold", "carry", "sort")
Run = Callable[..., tuple[int, str, str]]


def projects(root: Path) -> list[str]:
    """Three small packages, as arguments of the command; none holds a word of another."""
    found = []
    for name, nouns in NOUNS.items():
        files = {
            f"{name}/{noun}s.py": PACKAGE.format(
                noun=noun, Noun=noun.title(), NOUN=noun.upper(), verb=verb, Verb=verb.title(), number=len(noun) + at
            )
            for at, (noun, verb) in enumerate(zip(nouns, VERBS, strict=True))
        }
        found += ["--workspace", str(write(root / name, files))]
    return found


def services(root: Path) -> list[str]:
    """Three folders of settings."""
    texts = {
        "copper": "cache_size = 412\nqueue_depth = 977\n",
        "cobalt": "pool_limit = 538\nworker_delay = 61\n",
        "chrome": "socket_timeout = 246\nindex_path = /srv/index\n",
    }
    found = []
    for name, text in texts.items():
        found += ["--workspace", str(write(root / name, {"main.ini": text, "README.md": f"The service {name}.\n"}))]
    return found
