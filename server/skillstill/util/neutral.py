"""Quoted text that does nothing where it is read: in another model's context, or in a window that shows Markdown.

An answer quotes files, and anybody may have written those. A space behind the first character keeps a token from being
one, and says that something was done; text that is neither a token nor loads anything from elsewhere stays as it is.
Not a filter for meaning: orders in plain words remain, and links that somebody must follow.
"""

import re

# As chat templates write them: ChatML and its like, then those of Llama 2, Gemma, DeepSeek, Hermes and agents.
TOKENS = re.compile(
    r"<(?=\|\w{1,40}\|>|｜[^｜<>\n]{1,40}｜>|</?SYS>>|/?(?:start_of_turn|end_of_turn|tool_call|tool_response)>"
    r"|/?(?:system-reminder|function_calls|function_results)>)|\[(?=/?INST\])",
    re.IGNORECASE,
)
ELSEWHERE = r"(?:https?:|ftp:|data:|javascript:|(?:[a-z][a-z0-9+.-]*:)?//)"  # no path of the same place
# An image; its caption may hold brackets.
IMAGE = re.compile(rf"!(?=\[(?:[^\[\]]|\[[^\[\]]*\]){{0,1000}}\]\(\s*<?{ELSEWHERE})", re.IGNORECASE)
# An image whose address stands elsewhere in the text. `vec![a][0]` of a program has none.
REFERENCE = re.compile(r"!(?=\[([^\]\n]{1,200})\](?:\[([^\]\n]{0,200})\])?)")
ADDRESS = re.compile(r"^[ >]{0,8}\[([^\]\n]{1,200})\]:", re.MULTILINE)
LOADS = r"(?:src|srcset|href|data|poster|action|formaction|background|style)\s*=\s*[\"']?[^\"'<>]{0,200}?" + ELSEWHERE
TAG = re.compile(
    r"<(?=(?:img|image|picture|source|script|iframe|frame|object|embed|svg|video|audio|track|link|style|base|form|input"
    rf"|button|body|table|td|div|span|use)\b[^<>]{{0,1000}}?[\s/](?:{LOADS}|on[a-z]{{3,30}}\s*=))",
    re.IGNORECASE,
)


def neutral(text: str) -> str:
    """Return the text with a space in each control token, live image and tag that loads or runs something."""
    text = TAG.sub("< ", IMAGE.sub("! ", TOKENS.sub(lambda found: f"{found[0]} ", text)))
    named = {name.casefold() for name in ADDRESS.findall(text)}
    return REFERENCE.sub(lambda found: "! " if (found[2] or found[1]).casefold() in named else "!", text)
