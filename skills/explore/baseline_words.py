"""What a prompt of `explore` asks, without any model of language: its intent, by cues and a linear classifier."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

WORDINGS = Path(__file__).absolute().parent / "wordings" / "train.toml"
TOKEN = re.compile(r"(?<!\w['’])(?<!\w)[A-Za-z_]\w*(?:(?:\.|::|-)[A-Za-z_]\w*)*(?:\(\))?")
PATH = re.compile(r"(?:[\w.-]+/)*[\w-]+\.(?:pyi?|rs|go|[ch]|cc|js|ts|md|toml|rst|txt|cfg|yml|json)\b")
SHAPED = re.compile(r"_|\w\.\w|::|\(\)|[a-z][A-Z]|[A-Z]{2,}[a-z]|[A-Za-z]\d")
MERGED = {"definition_other": "definition", "ambiguous": "definition", "ambiguous_body": "definition"}
MERGED |= {"default_constant": "default", "needle_other": "needle", "localise": "needle"}
KINDS = {"bases": "C", "ancestor": "C", "inherited": "C", "callers": "FC", "importers": "FCK", "tests": "FC"}
KINDS |= {"definition": "FCK", "signature": "FC", "offscope": "FC"}  # what is named: Function, Class, Konstant
DECAY, STEPS, SPEED = 1e-4, 300, 20.0
WORK_FACTOR, CUE_FACTOR = 2, 1.4

CALLS = "(?:calls?|called|calling|invokes?|invoking|triggers?|executes?|runs?)"
POLITE = (
    "please |can you |could you |would you |will you |now |just |go ahead and |let's |kindly |time to |hey |"
    "we should |we need to |i want you to |i need you to "
)
VERBS = (
    "rename|run|fix|delete|remove|add|write|publish|refactor|start|install|move|profile|reformat|format|send|execute|"
    "translate|upgrade|update|roll|create|measure|replace|merge|ask|deploy|commit|push|generate|benchmark|edit|change|"
    "make|release|email|mail|notify|implement|rewrite|revert|drop|migrate|download|build|bump|simplify|extract|debug|"
    "inline|split|reproduce|patch|optimi[sz]e|clean|turn|lint|tag|open an? |file a|set up|cherry.?pick|bring up|upload|"
    "rebase|stash|swap|convert|insert|inject|introduce|wire|enable|disable|switch|port|copy|duplicate|undo|restore|"
    "reset|apply|adjust|correct|repair|get rid|put|silence|mark|annotate|check (whether|if)|make sure|compile|evaluate|"
    "call NAME|try out|schedule|squash|let the|have the|give NAME a"
)
CUES: Mapping[str, str] = {  # on the prompt in lower case, with NAME for the name
    "raises": r"\brais|\bthr[eo]w|exception|\berrors?\b|\bfail|\bcatch|\bexcept\b|\btry\b|goe?s? wrong|blows? up",
    "bases": r"inherit|(?<!code )\bbases?\b(?! is\b)|\bparents?\b|super.?class|sub.?class|\bextend|\bderiv|mixin"
    r"|\babcs?\b"
    r"|hierarchy|\bchild\b|lineage|super.?type|ancest|descend|specialis|buil(t|ds) (up)?on|stands? above|is.a\b"
    r"|right above"
    r"|class (tree|hierarchy)|generali[sz]|\babove NAME",
    "ancestor": r"\btop|\broot|ultimate|highest|upper.?most|oldest|\bchain\b|ancestor|all the way|very (top|first"
    r"|bottom)"
    r"|climb|goe?s? back|descend|base of the base|most basic|eventual|last class|\bup from|\bup to|end up|go up"
    r"|parents up"
    r"|base.?most|\bhead of|family|grand|furthest|\borigin|the end of|to its end|in the end|first class|starting class"
    r"|no (more )?parent|\bfinal\b|until|none left|forebear|last one",
    "signature": r"\bparam|\bargument|\bargs?\b|kwargs|signature|\binputs?\b|\baccepts?|NAME takes?\b|takes? NAME"
    r"|it takes"
    r"|\bexpects?|NAME (take|expect|need|want|require|get)|pass(ed)? (in)?to|hand (over )?to|to give it|feed|parenthes"
    r"|how (do i|to) call|goe?s? in(to)? NAME|(supply|provide|give|given|handed|supplied) to NAME|receiv|formal|fill in"
    r"|\boptions\b|supposed to be called|need to know to call",
    "default": r"\bdefault|\bomit|leave out|left out|unless|falls? back|preset|standard value|no one sets|nobody sets"
    r"|n't (pass|give|set|specify|supply|provide)|n't (given|passed|set)|when nothing|not (given|passed|set|specified)",
    "constant": r"\bconstants?\b|upper.?case|all.?caps|hard.?coded|\bliteral",
    "value": r"\bvalue|evaluate|equal|worth|number|set to|stands? for",
    "importers": r"\bimport|(pull|drag)(s|ed)? in|br(ings?|ought) in|\bfrom \.\.\.",
    "tests": r"\btests?\b|tested|testing|test.?case|\bcover(s|ed|age)?\b|\bsuite\b|exercis|\bspecs?\b|verif|\basserts?"
    r"|checks? NAME|fixture",
    "callers": r"caller|call.?sites?|(calls?|calling|invok(es?|ing)|trigger(s|ing)?|runs?) (to |of |on |for "
    r"|up )?NAME|usages?|references|relies on NAME|touch NAME"
    r"|NAME (is |gets |being |be |get |are )?(ever |actually |really )?(called|invoked|used|reached|triggered"
    r"|referenced)"
    r"|depends? on NAME|\bwho (calls|uses|invokes)|us(es?|ing|e of) NAME|it called|calls? it|call it|breaks? if|impact"
    r"|affected|invocation|cross.?ref|(every|all|any|each|which) (use|usage|call|invocation|reference|spot)s?\b"
    r"|clients? of"
    r"|consumers?|ha(s|ve) to follow|where .* (called|invoked|used)\b|who is (using|calling)|using it|ripple|call graph"
    r"|calls? for NAME|(delete|remove|drop|rename) NAME|dead code",
    "delegates": rf"NAME (itself |just |then |only |really |actually |in turn |internally )*({CALLS}|delegat|hand"
    r"|forward|"
    r"pass(es)?|rel(y|ies)|wraps?|dispatch|uses|makes|goes|depends)|callee|(called|invoked|used|made) (by|in|inside"
    r"|from|"
    r"within) NAME|\bhelper\b|wrapper|underneath|(behind|under|beneath|below) NAME|\bstep |one (level|step|call|hop"
    r"|layer)"
    r"|the work|real work|delegat|forward|\binner|under the hood|one down|call in NAME|follow NAME|next function|merely"
    r"|\bwraps?\b|ends? up (calling|in)|do(ing|es) the (job|work)|deeper|passe?s? (it|the|things|on|its)|goe?s? next"
    r"|what .* calls?$|it calls|leans on|hides behind|NAME in turn",
    "returned": r"\breturn(s|ed|ing)?\b|\bresult|gives? (me |us )?back|(get|got|receive"
    r"|have) (back )?(something )?from NAME"
    r"|comes? (out|back)|produc|yield|hand(s|ed)? (me|us|you|back)|what NAME (makes|builds|creates)|out(put)? of NAME"
    r"|NAME (returns|gives|yields)|get (back )?from|what (i|you|we) get",
    "class": r"\bclass(es)?\b|\btypes?\b|\bobject\b|\binstance\b",
    "do": rf"^({POLITE})*({VERBS})\b(?! (like|called))|\b(and|then) (please )?({VERBS}) (it|them|the|that|a|all"
    rf"|everything)\b",
    "offscope": r"pull.?request|\bcommit|\bpush\b|release|deploy|wrote|author|blame|\bask\b|e?mail|production|memory"
    r"|\bcpu\b"
    r"|how (long|fast|often|much (memory|time|ram))|last (week|month|year|night)|yesterday|slow|faster|benchmark|\bci\b"
    r"|\bblack\b|run it|everywhere|dependenc|branch|on average|and (save|commit|update|print|show)|server|docker"
    r"|pipeline"
    r"|ticket for|jira|slack|changelog|when was|history|rewrit|install|upload|coverage report|test suite (pass|and)"
    r"|by hand"
    r"|sample input|real input|users?\b|customers?|maintainer|team\b|build\b|version bump|hotfix|get rid|\bgreen\b"
    r"|run them"
    r"|pass(es)? its|introduced|works?$|works? (with|on|in)|instead of NAME|right now|measure|profil|debugger|\bgit\b"
    r"|\bpip\b|licen[sc]e|opinion|should we|better|recommend|estimate|crash",
    "needle": r"(function|fn|method|routine|code|something|helper|thing|part|place|whatever|anything|job|spot|logic"
    r"|one|it)"
    r"(?: is)? (that|which|to|where|used to|whose) (?!NAME|is\b|the\b|has\b|does\b)[a-z]+|(do|where|how|can|when) we "
    r"(?!NAME|have|call|import|test)[a-z]+|^(to|who) [a-z]+ (a|an|the|all)\b|: (it )?[a-z]+ (a|an|the|all)\b"
    r"|manages? to",
    "where": r"where|locat|\bline\b|\bfiles?\b|\bpath|\bplace|find|look|point|\bopen|go to|jump|show|defin|declar"
    r"|\blives?\b"
    r"|exist",
    "many": r"several|more than one|different|the one|not the other|which of|which one|particular|others|apart|namely",
}
ACTIONS = (  # stand-ins for what a needle does, with N for a name or none
    "return the number of bytes in a N", "check whether a N is a valid email address", "build the N from its settings",
    "convert a N into a tuple of strings", "raise an error when the N lacks a key", "parse the header of an incoming N",
    "write the N to disk", "split a long string into tokens", "remove duplicate rows from the matrix", "close all N",
    "create a new N whose buffer is empty", "send a keepalive request to the peer", "get the parent N of a node",
    "handle symlink pointing to another N", "fix buffer overflow in N", "avoid reading past the end of a packet",
    "stop storing N in the cache", "compute the shortest distance between two nodes", "test if the N has expired",
)  # fmt: skip
WHICH = (
    "of the N code", "in the N module", "that belongs to N", "on the base N", "from N", "which uses N", "calling N",
    "that calls N", "that makes use of N", "defined inside N",
)  # fmt: skip
PARAMETERS = ("timeout", "errors", "many", "default", "encoding", "raw", "name", "retries", "value", "modify")


@lru_cache(maxsize=1)
def wordings() -> Mapping[str, Sequence[str]]:
    return tomllib.loads(WORDINGS.read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def asking() -> frozenset[str]:
    """The words of the training wordings: what is asked with, not what is asked for."""
    lines = [re.sub(r"\{\w+\}", " ", line) for family in wordings().values() for line in family]
    return frozenset(word.lower() for line in lines for word in TOKEN.findall(line))


@lru_cache(maxsize=1)
def common() -> frozenset[str]:
    """Those, and the words of the cues."""
    return asking() | {word for cue in CUES.values() for word in re.findall(r"[a-z]{3,}", cue)}


@lru_cache(maxsize=1)
def misspelt() -> Mapping[str, str]:
    """Common words with two neighbouring letters swapped, as it happens in haste."""
    words = [word for word in sorted(common()) if len(word) > 3]
    swaps = (
        (word[:at] + word[at + 1] + word[at] + word[at + 2 :], word) for word in words for at in range(len(word) - 1)
    )
    return {swapped: word for swapped, word in swaps if swapped not in common()}


def spelt(word: str) -> str:
    return misspelt().get(word.lower(), word.lower())


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Without its ending: `processes`, `processing` and `process` are one."""
    word = word.lower()
    ending = next((one for one in ENDINGS if word.endswith(one) and len(word) - len(one) >= 3), "")
    if ending:
        word = word[: -len(ending)] + ("y" if ending in ("ies", "ied") else "")
    elif word.endswith("s") and not word.endswith("ss") and len(word) > 3:
        word = word[:-1]
    word = word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def fold(text: str) -> str:
    """A name without case and joints: `key binding`, `keyBinding` and `KEY_BINDING` are one."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


ENDINGS = (
    "izations",
    "ization",
    "ations",
    "ation",
    "ings",
    "ing",
    "ers",
    "ions",
    "ion",
    "ies",
    "ied",
    "ed",
    "er",
    "es",
)


def features(words: Sequence[str], flags: Sequence[str], raw: str = "") -> set[str]:
    """Of a question whose names are replaced by NAME: its cues, its words' stems, and pairs of them."""
    known = [word if word.isupper() else stem(word) for word in words if word in common() or word.isupper()]
    pairs = [f"{one} {other}" for one, other in zip(["^", *known], [*known, "$"], strict=True)]
    strange = sum(word not in common() and not word.isupper() for word in words)
    size = "strange" + ("0" if not strange else "1" if strange < 3 else "3")
    texts = " ".join(words), raw
    cues = [cue for cue, pattern in CUES.items() if any(re.search(pattern, text) for text in texts)]
    both = [f"{one} & {other}" for one in cues for other in cues if one < other]
    alone = [f"cue {cue}" for cue in cues] + ["cues " + " ".join(cues), size, f"{size} {'NAME' in words}"]
    return {*known, *pairs, *flags, *both, *alone}


def samples() -> Iterator[tuple[str, set[str]]]:
    """The wordings with stand-ins in their slots, by intent."""
    for family, lines in wordings().items():
        intent = MERGED.get(family, family)
        for at, line in enumerate(lines):
            for kind in (*KINDS.get(intent, "F"), "U"):
                yield intent, filled(line, at * 7 + ord(kind), kind)


def filled(line: str, at: int, kind: str) -> set[str]:
    action = ACTIONS[at % len(ACTIONS)].replace("N", ("NAME", "blob")[at % 2])
    third = action.partition(" ")[0] + "s " + action.partition(" ")[2]
    slots = {"name": "NAME", "other": "OTHER", "method": "OTHER", "path": "PATH", "action": action, "actions": third}
    slots |= {"which": WHICH[at % len(WHICH)].replace("N", ("OTHER", "blob")[at % 2]), "description": action}
    slots["parameter"] = PARAMETERS[at % len(PARAMETERS)]
    strong = "NAME strong" if "{name}" in line or at % 3 == 0 else "NAME weak"
    flags = ["PARAMETER"] * ("{parameter}" in line) + ["OTHER"] * ("{method}" in line)
    words = re.sub(r"\{(\w+)\}", lambda match: slots[match[1]], line)
    tokens = [word if word.isupper() else word.lower() for word in TOKEN.findall(words)]
    return features(tokens, [*flags, strong, f"NAME {kind}"] if "NAME" in tokens else flags)


@lru_cache(maxsize=1)
def classifier() -> tuple[Sequence[str], Mapping[str, int], "np.ndarray[tuple[int, int], np.dtype[np.float32]]"]:
    """Logistic regression on the samples: the intents, the columns of the features, the weights."""
    rows = list(samples())
    intents = sorted({intent for intent, _ in rows})
    seen = Counter(name for _, row in rows for name in row)
    columns = {name: at for at, name in enumerate(sorted(name for name in seen if seen[name] > 1))}
    given, wanted = np.zeros((len(rows), len(columns)), np.float32), np.zeros((len(rows), len(intents)), np.float32)
    for at, (intent, row) in enumerate(rows):
        given[at, [columns[name] for name in row if name in columns]] = 1 / len(row) ** 0.5
        wanted[at, intents.index(intent)] = 1
    share = 1 / (wanted @ wanted.sum(axis=0) * len(intents))
    weights = speed = np.zeros((len(columns), len(intents)), np.float32)
    for _ in range(STEPS):
        guess = np.exp(given @ weights)
        guess /= guess.sum(axis=1, keepdims=True)
        speed = 0.9 * speed + SPEED * (given.T @ ((wanted - guess) * share[:, None]) - DECAY * weights)
        weights = weights + speed
    return intents, columns, weights


def likely(row: set[str]) -> dict[str, float]:
    """How likely each intent is."""
    intents, columns, weights = classifier()
    scores = np.exp(weights[[columns[name] for name in row if name in columns]].sum(axis=0) / len(row) ** 0.5)
    work = ("cue do" in row) + ("cue offscope" in row and not {"cue needle", "NAME weak"} <= row)
    scores[intents.index("offscope")] *= WORK_FACTOR**work
    scores[intents.index("definition")] *= 1 if "cue where" in row or len(row) < 30 else 0.5
    hints = {cue[4:] for cue in row if cue.startswith("cue ")}
    hints |= {"delegated_raises"} if hints >= {"delegates", "raises"} else set()
    hints -= {"bases"} if "ancestor" in hints else set()
    scores *= np.array([CUE_FACTOR if intent in hints else 1 for intent in intents])
    return dict(zip(intents, (scores / scores.sum()).tolist(), strict=True))
