"""The grammar of a path: the words of the context that read like a file. A trained model reads nothing else."""

import json
import re
from collections.abc import Mapping

WORD = re.compile(r"[^\s:;,\"'`‘’“”<>|=*?!]+")
# With a folder, with an ending, or one of the files that have neither.
LIKE_A_FILE = re.compile(
    r"[^/]*/.*\w|.*\.[A-Za-z]\w*|[A-Z][a-z]*file|LICENSE|README|COPYING|NOTICE|AUTHORS|CHANGELOG", re.DOTALL
)


def said_paths(said: str) -> Mapping[str, str]:
    """Return the terminal of a Lark grammar for the words that read like a file; empty if none does."""
    words = {form for word in WORD.findall(said) for form in (word.rstrip("."), word.strip("()[]{}."))}
    files = filter(LIKE_A_FILE.fullmatch, sorted(words))
    return {"PATH": " | ".join(json.dumps(file, ensure_ascii=False) for file in files)}
