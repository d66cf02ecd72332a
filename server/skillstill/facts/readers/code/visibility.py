"""Who may use a definition, language by language."""

import re
from collections.abc import Callable

# name, head of the definition, kind of what is around it ("" at the top of a file), access that a section declares
Visibility = Callable[[str, str, str, str], str | None]


def by_underscore(name: str, head: str, around: str, access: str) -> str | None:
    """Python's habit: one leading underscore is private, unless it is a special method."""
    return "private" if name.startswith("_") and not name.endswith("__") else "public"


def by_capital(name: str, head: str, around: str, access: str) -> str | None:
    """Go's rule: what begins with a capital is exported."""
    return "public" if name[:1].isupper() else "private"


def by_keyword(default: str | None = None, top: str | None = None) -> Visibility:
    """Return a rule for languages with keywords. `default` holds inside of types, `top` outside of them."""
    word = re.compile(r"\b(public|private|protected|internal)\b|(#)")

    def visibility(name: str, head: str, around: str, access: str) -> str | None:
        if found := word.search(head.partition("(")[0].partition(name)[0] + ("#" if name.startswith("#") else "")):
            return found[1] or "private"
        if around == "interface":
            return "public"
        return access or (default if around else top)

    return visibility


def by_export(name: str, head: str, around: str, access: str) -> str | None:
    """The rule of JavaScript and TypeScript: `export`, keywords of members, `#name`. Else nothing is known."""
    if access == "export":
        return "public"
    return by_keyword()(name, head, around, "")


def by_pub(name: str, head: str, around: str, access: str) -> str | None:
    """Rust's rule: `pub`, `pub(crate)`, or private unless a trait declares it."""
    if around == "trait":
        return "public"
    if found := re.match(r"pub\b\s*(\()?", head):
        return "internal" if found[1] else "public"
    return "private"


def by_static(name: str, head: str, around: str, access: str) -> str | None:
    """The rule of C and C++: `static` outside of classes is private to the file; inside the section decides."""
    if around in ("class", "struct", "union"):
        return access or ("private" if around == "class" else "public")
    return "private" if re.search(r"\bstatic\b", head) else "public"


def by_section(name: str, head: str, around: str, access: str) -> str | None:
    """Ruby's rule: public until a line says `private` or `protected`."""
    return access or "public"
