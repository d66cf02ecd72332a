"""The baseline of `explore`: it answers by keywords, names and syntax trees, without any model.

A linear classifier tells what is asked: it trains itself, in a second, on the training wordings (baseline_words.py).
The name and what else the prompt says tell which definition is meant. The answer comes from the index
(baseline_index.py) or, if there is only a description, from a search for its words (baseline_search.py)."""

import ast
import importlib.util
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

GUESSES = 1  # places named for a description: the checks let none of them be wrong
HERE = Path(__file__).absolute().parent


def beside(name: str) -> Any:
    """The module in the file beside this one."""
    spec = importlib.util.spec_from_file_location(f"skillstill_baseline_explore_{name}", HERE / f"baseline_{name}.py")
    assert spec
    assert spec.loader
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from skills.explore import baseline_index as fi
    from skills.explore import baseline_search as fs
    from skills.explore import baseline_words as fw
    from skills.explore.baseline_index import Def, Index
    from skills.explore.baseline_search import Name
else:
    fw, fi, fs = beside("words"), beside("index"), beside("search")


class Question:
    """A prompt, read: its words, what it names (the likeliest first), and what it asks of that."""

    def __init__(self, prompt: str, index: "Index") -> None:
        self.index = index
        self.tokens = tuple(fw.TOKEN.findall(fw.PATH.sub(" PATH ", prompt)))
        names = fs.names_in(self.tokens, index)
        apart = {name.at: fs.told_apart(name, names, self.tokens, index) for name in names}
        self.names = sorted(names, key=lambda name: -name.score - apart[name.at])
        known = {word for one in (self.names[0].found if names else ()) for word in index.parameters(one)}
        self.parameter = next((word for word in self.tokens if word in known), "")
        self.inherited = inherited(self.names, index)
        self.is_apart = bool(names) and apart[self.names[0].at] > 0
        scores = self.likely()
        self.intent = max(scores, key=lambda intent: scores[intent] * self.fitting(intent))

    def likely(self) -> dict[str, float]:
        words = list(map(fw.spelt, self.tokens))
        for name in self.names[:1] + [name for name in self.names[1:3] if fs.shape(name.text, 1) > 1]:
            words[name.at.start : name.at.stop] = ["NAME" if name is self.names[0] else "OTHER"] + [""] * (
                len(name.at) - 1
            )
        flags = ["PARAMETER"] * bool(self.parameter) + ["OTHER"] * bool(self.inherited)
        strong = bool(self.names) and fs.shape(self.names[0].text, 1) > 1
        if self.names:
            flags += [f"NAME {self.kind}", "NAME strong" if strong else "NAME weak"]
        raw = "" if strong else " ".join(map(fw.spelt, self.tokens))
        return fw.likely(fw.features([word for word in words if word], flags, raw))

    @property
    def kind(self) -> str:
        """Of what the name means: Function, Class, Konstant or Unknown."""
        one = self.names[0].found[0] if self.names and self.names[0].found else None
        return "U" if one is None else "F" if one.is_function else "K" if one.kind == "constant" else "C"

    def fitting(self, intent: str) -> float:
        """How well what is named suits what is asked of it."""
        if intent == "needle":
            return self._described()
        if self.kind == "U":
            return 1.0
        if intent == "inherited":
            return 100 if self.inherited else 0.05
        if intent == "default":
            return 3 if self.parameter else 0.3
        if intent == "definition":
            return 8 if self.is_apart else 1
        wanted = {"bases": "C", "ancestor": "C", "signature": "FC"}
        wanted |= dict.fromkeys(("raises", "delegates", "delegated_raises", "returned", "used_constant"), "F")
        return 1.0 if self.kind in wanted.get(intent, self.kind) else 0.1

    def _described(self) -> float:
        """More for a prompt with many unusual words beside its name."""
        named = self.names[0].at if self.names else range(0)
        new = sum(fw.spelt(word) not in fw.common() for at, word in enumerate(self.tokens) if at not in named)
        weak = not self.names or fs.shape(self.names[0].text, 1) < 2
        return (6 if weak else 2) if new > 2 else (3 if weak else 1) if new > 1 else 1 if weak or new else 0.5


def inherited(names: Sequence["Name"], index: "Index") -> "Def | None":
    """The method, defined further up, of a class that is named beside it or before a dot."""
    pairs = [(one.found, other.text) for one in names[:3] for other in names[:3] if one is not other]
    dotted = [name.text.removesuffix("()").rpartition(".") for name in names[:1] if not name.found]
    pairs += [(tuple(index.find(outer)), last) for outer, _, last in dotted if outer]
    for owner, method in ((owner, method) for owners, method in pairs for owner in owners if owner.is_type):
        known = index.member(owner, method.removesuffix("()"))
        if known is not None and known.container != owner.name:
            return known
    return None


def absent(what: str) -> str:
    return f"There is no `{what}` (r1 found nothing)."


def chosen(asked: Question) -> "Def | None":
    """The definition that the question is about."""
    names = [name for name in asked.names[:1] if name.found]
    if asked.inherited and (asked.intent == "inherited" or not names):
        return asked.inherited
    found = [one for name in names for one in name.found]
    found = [one for one in found if fits_kind(one, asked.intent)] or found
    rest = [token for at, token in enumerate(asked.tokens) if names and at not in names[0].at]
    scores = {one: fs.evidence(one, rest, asked.index) if asked.intent == "definition" else 0.0 for one in found}
    if asked.intent == "default":
        scores = {one: float(asked.parameter in asked.index.parameters(one)) for one in found}
    return max(found, key=lambda one: scores[one], default=None)


def fits_kind(one: "Def", intent: str) -> bool:
    if intent in ("bases", "ancestor"):
        return one.is_type
    return one.is_function or (one.is_type and intent == "signature") or intent in ("definition", "importers", "tests")


def located(asked: Question, one: "Def") -> str:
    return f"`{one.last}` is defined at {one.place}."


def listed(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in dict.fromkeys(names)]
    return " and ".join(filter(None, [", ".join(quoted[:-1]), *quoted[-1:]]))


def signature(asked: Question, one: "Def") -> str:
    names = list(asked.index.parameters(one))
    if not names and one.is_type:
        names = [
            known.last
            for known in asked.index.by_path[one.path]
            if known.container == one.name and known.kind == "constant"
        ]
    return f"`{one.last}` takes {listed(names) or 'no parameters'} (r1)."


def default(asked: Question, one: "Def") -> str:
    value = asked.index.parameters(one).get(asked.parameter)
    if value is None:
        return f"There is no such default in `{one.last}` (r1 found nothing)."
    if isinstance(value, ast.Name | ast.Attribute) and (found := asked.index.constant(one, ast.unparse(value))):
        return f"It is {found} (r1)."
    return f"`{asked.parameter}` defaults to {fi.literal(value)} (r1)."


def used_constant(asked: Question, one: "Def") -> str:
    node = asked.index.node(one)
    used = [each for each in ast.walk(node) if isinstance(each, ast.Name | ast.Attribute)] if node else []
    names = Counter(ast.unparse(each) for each in used if isinstance(each.ctx, ast.Load))
    upper = [name for name in names if fi.CONSTANT.match(name.rpartition(".")[2])]
    values = [
        value for name in sorted(upper, key=lambda name: "." in name) if (value := asked.index.constant(one, name))
    ]
    return f"It is {values[0]} (r1)." if values else "There is no constant (r1 found nothing)."


def bases(asked: Question, one: "Def") -> str:
    names = [fi.plain(base).rpartition(".")[2] for base in one.bases if "=" not in base]
    return f"`{one.last}` derives from {listed(names)} (r1)." if names else f"`{one.last}` has no base class (r1)."


def ancestor(asked: Question, one: "Def") -> str:
    top, seen = one, {one}
    while above := [base for base in asked.index.parents(top) if base not in seen]:
        top = above[0]
        seen.add(top)
    return f"`{top.last}` is at the top ({top.place})."


def raises(asked: Question, one: "Def") -> str:
    names = [name.rpartition(".")[2] for name in one.raises if not re.match(r"_*[a-z]", name.rpartition(".")[2])]
    return f"`{one.last}` raises {listed(names) or 'nothing'} itself (r1)."


def delegates(asked: Question, one: "Def") -> str:
    found = sorted(asked.index.called(one), key=lambda each: not each.is_function)[:1]
    return located(asked, found[0]) if found else absent("function of ours that it calls")


def delegated_raises(asked: Question, one: "Def") -> str:
    found = sorted(asked.index.called(one), key=lambda each: (not each.raises, not each.is_function))
    return raises(asked, found[0]) if found else absent("function of ours that it calls")


def returned(asked: Question, one: "Def") -> str:
    node = asked.index.node(one)
    given = node.returns if node else None
    text = re.sub(r"['\"]", "", ast.unparse(given)) if given else ""
    names = re.findall(r"[A-Za-z_][\w.]*", text) or made(node)
    if "Self" in names and (owner := asked.index.owner(one)):
        return located(asked, owner)
    found = [known for name in names if (known := asked.index.resolve(one.path, name)) and known.is_type]
    return located(asked, found[0]) if found else absent("class of ours that it returns")


def made(node: "fi.Function | None") -> list[str]:
    """What is called in the return statements."""
    values = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)] if node else []
    return [ast.unparse(value.func) for value in values if isinstance(value, ast.Call)]


def callers(asked: Question, one: "Def") -> str:
    places = [f"{path}:{line}" for path, line in dict.fromkeys(asked.index.uses(one.last, calls=True))]
    return (
        f"`{one.last}` is called at {', '.join(places)}."
        if places
        else f"No code calls `{one.last}` (r1 found nothing)."
    )


def importers(asked: Question, one: "Def") -> str:
    places = []
    for path, tree in asked.index.naming(one.last):
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        places += [f"{path}:{node.lineno}" for node in nodes if any(known.name == one.last for known in node.names)][:1]
    return (
        f"`{one.last}` is imported at {', '.join(places)}."
        if places
        else f"No file imports `{one.last}` (r1 found nothing)."
    )


def tests(asked: Question, one: "Def") -> str:
    cases = [
        case
        for case in asked.index.defs
        if fi.is_test(case.path) and case.is_function and case.last.lower().startswith("test")
    ]
    for calls in (True, False):
        for path, line in asked.index.uses(one.last, calls=calls):
            if any(case.path == path and case.line <= line <= case.end for case in cases):
                return f"`{one.last}` is tested at {path}:{line}."
    return f"No test uses `{one.last}` (r1 found nothing)."


def needle(prompt: str, index: "Index") -> str:
    """The functions whose rare words are those of the prompt."""
    best = fs.functions(index).ranked(fs.gist(prompt), fw.asking())[:GUESSES]
    places = [f"`{one.last}` at {one.place}" for one in best]
    return f"That is {', or else '.join(places)}." if places else absent("such function")


def localised(prompt: str, index: "Index") -> str:
    best = fs.files(index, fs.gist(prompt))[:GUESSES]
    return f"That belongs in {', or else in '.join(best)}." if best else absent("such file")


ANSWERS: Mapping[str, Callable[[Question, "Def"], str]] = {
    "definition": located, "inherited": located, "signature": signature, "default": default, "bases": bases,
    "ancestor": ancestor, "raises": raises, "delegates": delegates, "delegated_raises": delegated_raises,
    "returned": returned, "used_constant": used_constant, "callers": callers, "importers": importers, "tests": tests,
}  # fmt: skip


def answer(prompt: str, root: Path) -> str:
    index = fi.index_of(Path(root))
    if index.is_native:
        return localised(prompt, index)
    asked = Question(prompt, index)
    if asked.intent == "offscope":
        return "escalate: this needs more than reading the code, and I can only look."
    if asked.intent == "needle":
        return needle(prompt, index)
    one = chosen(asked)
    return ANSWERS[asked.intent](asked, one) if one else absent(asked.names[0].text if asked.names else "such name")
