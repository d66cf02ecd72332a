"""The baseline of the skill `logs`: answers without a model, frozen by baseline.sha256 before any training.

Slots (names, times, ids, files) are taken out of the question; what is left is classified by a linear scorer over words
and cues, trained on wordings/train.toml; then entries are chosen. Paraphrased warnings are found by kindred words.
"""

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any

import numpy as np
from skillstill_training.authoring.reading import LogEntry, log_template, read_logs

WORDINGS = tomllib.loads((Path(__file__).parent / "wordings" / "train.toml").read_text(encoding="utf-8"))
START = re.compile(r"(?i)\b((re)?start|boot|launch|initiali[sz]|listen|serv)(ed|ing)?\b|\b(up|ready|online|alive)\b")
VERSION = re.compile(r"(?<![\d.])v?\d+\.\d+\.\d+(?![.\d])")
FRAME = re.compile(r"\s+(?:at (?:async )?([\w.$<>]+) ?\(|File \"[^\"]*\", line \d+, in (\S+))")
USER = re.compile(r"(?i)\b(?:user|customer|client|account|member|uid)(?:[ _]?id)?\W{1,4}(?=\w*\d)(\w+)")
SCOPED = "level_count noisiest top_error burst earliest latest kinds"  # families that may name a scope, or none
SLOTS = "zfile ztime zcomp zexc zhost zurl zreq zobj znew"
WHERE = "in zfile|after ztime|between ztime and ztime|before ztime|from ztime to ztime"
ALL = "|||||in total|in these logs|overall|anywhere|in all|altogether|in any file|in the logs"
ENDS = r"\b(before|until|till|by|to|than|of|at|during) (?:(?!after|before)\w+ )?ztime"
NAMED = r"\b[A-Za-z]\w*(?:[._]\w+)+\b(?!\()"  # like a component
CAMEL = r"\b(?:[a-z]\w*\.)*[A-Z][a-z]+(?:[A-Z]\w*)+\b"
FORMS = {  # of slots, in the order in which they are looked for; those of the workspace's own names come before zreq
    "zurl": r"(?<![\w.])/[A-Za-z][\w/.-]*\w",
    "zhost": r"\b[A-Za-z][\w.-]*:\d{2,5}\b",
    "ztime": r"\b\d{1,2}:\d\d(?::\d\d)?\b",
    "zreq": r"\b(?!\d{4}-)(?=(?:[\w-]*\d){2})(?=[\w-]{7})(?:[\da-f]+(?:-[\da-f]+)+|(?:[A-Za-z]+[-_]?)?[\da-f]{5,})\b",
    "zobj": r"\b(?!(?:user|port|line|the|a|with|in|id|status|of|at)\b)[A-Za-z]+ (?:no\.? |number |#)?\d{4,6}\b",
}
NEEDS = {"zexc": "frame victim", "zhost": "several", "zurl": "follow", "zreq": "request", "zobj": "request_failure"}
CUES = """first earliest oldest initial debut opening opens head 1st foremost front begin begins began beginning start
starts onset outset maiden inaugural topmost commence commences commenced precedes predates lowest min minimum smallest
asc ascending premiere emerge emerged surfaced; last latest final newest freshest desc descending tail recent recently
end ends ended ending stop stops stopped closing ceased cease ceases finish finished concluding concludes terminal
ultimate trailing bottom bottommost terminate terminates; many number count counts counted counting total tally sum
amount quantity often times figure integer headcount volume numerous wc; most top worst crowded busiest densest highest
biggest largest max maximum majority bulk leads leading lead noisiest main; minute peak peaks peaked spike burst hh mm
densest flood busiest clock surge moment; frequent frequently common commonest repeated repeats repeat again message msg
loudest; who whom whose service services component components program name names offender producer source process app
application; restart restarted restarting deploy deployed deployment release released started start launch version came
comes up reboot; before preceding preceded prior ahead precede precedes closest nearest omen hint previous; new
introduce introduced newly unseen regression difference compare never appeared appears only came t not wasn didn minus;
kinds kind sorts sort types type classes categories category varieties variety distinct different distinguishable
diverse various separate unique uniq dedupe deduplicated deduplicate duplicates dupes once each every apiece set group
list without; function functions method func frame routine raised raise raising threw throw thrown throws; user users
customer client account whom whose person victim affected hit harmed uid casualty sufferer login subscriber; pass passed
path through touched handled involved travel went follow trace saw visited; warning warnings warn warned warns omen
hint; tomorrow will predict forecast week next month call phone angry mail email chart graph ticket"""
OFF_TASKS = """predict how many errors zcomp will have tomorrow|forecast the warnings of zcomp|tell who is on call for
zcomp|say why the customer who phoned about zcomp was angry|say who wrote the code of zcomp|say how much zcomp costs|
write a mail to the owner of zcomp|roll zcomp back to the release before|fix the bug behind the errors of zcomp|cancel
zobj| set the log level of zcomp to debug|run the health check of zcomp now|delete the entries of zcomp"""
OFF_VERBS = """restart stop roll deploy write send delete remove draw set raise fix change run open create predict
forecast block cancel translate call reboot purge erase email lower increase adjust repair patch notify mute silence
disable enable kill scale upgrade install update compress move copy rename add push order ask reset clear flush drain
edit configure post build turn execute ping generate undo hide encrypt switch print pause replace restore"""
FILLERS = """a an the of to is are was were be been has have had it its that this there in by for with from and or but
did does do who what which any all some our their they them than so as if on off up over after before even will not no
more one failed could can about into out during while too very being only just please you would mind i need want we
should must lets let us hey quick now next step go ahead help me todo your task great since know logs based may s"""
# Stems of kindred words, in what services warn of and what people say of it.
KIN = """disk storag driv volum spac room fil filesys partit capacit inod quota; full fill exce thresho near almost run
low short left remain littl scarc tight exhaust us usag limit abov; memor ram heap swap; clean cleanup collect garbag gc
purg evict vacuum; clock tim drift ntp hour wrong skew; replica standb seconda follow mirror cop slav; primar mast lead
main chief head; behind lag lat dela catch caught trail overdu pend backlog pil queu wait stal grow keep fast; queu
topic event messag consum read subscri stream; certifi credent tls ssl x509 identit; expir valid validit soon end run
laps day long invalid renew; thread work hand pool slot job task executo; saturat bus occupi exhaust overloa full;
backup cop snapsho dump safet archiv sav; skip left omit mis miss drop ignor; featur flag toggl switch funct experim
turn flip enabl disabl opt; operato somebod person hand manual human someon; login sign logon sess authent cam ent
passwor account; admin root superus privile adminis; new unknown unfamil strang oth unusual foreign unexpec; addres plac
machin locat ip origin; imag pictur photo thumbna; alterna text descrip capt accessi alt label; miss lack without absent
empt; fallbac fall default standar built substit instead replac fix emergen; currenc mone exchang rat convers pric; quer
stateme sql databas select tabl; slow took sluggis long last tak second ms crawl; retr again attempt repeat try reconne;
mail smtp email lett newslet; checksu mismatc corrupt damag hash integri sum broken wrong diff match; downloa fetch
transf upload load pull; configu sett config opt paramet key propert; depreca obsolet outdat old remov futur long us;
rat limit quota throttl call request man per allow cap often; lead elect vot leaders rol chosen; nod machin serv host
comput box pe; connect link channel lin socket call; refus reject deni turn awa door shut declin forbidd unwelco;
timeout tim wait vain rep answ respons silent; clos hung hang drop lost cut disconn end brok reset; idl unus inactiv
quiet sleep noth; lookup resolv dns addres find wher locat hostnam know; handsha tls encrypt secur agre negotia ssl
ciph; duplica twic doubl sam again alread repeat; larg big hug oversiz siz; cach cold mis hit; permiss right forbidd
allow acces grant; packet network los link latenc wir; vers diff mismatc incompa disagre; schema field column structu
format shap; lock row deadloc content wait sam record; restart crash loop die kill exit; index search rebuild; schedul
cron tim plan overlap previou runn still; token sess key secret passwor rotat; cpu load process cor; documen pap pag
record batch item; writ devic segment disk"""


def words_of(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower().replace("_", " "))


def errors(entries: Iterable[LogEntry]) -> list[LogEntry]:
    return [entry for entry in entries if entry.level in {"ERROR", "CRITICAL"}]


@lru_cache(maxsize=4)
def land_of(root: Path) -> tuple[list[LogEntry], dict[str, str], list[tuple[str, str]]]:
    """Return the entries by time, the names as spelt, the forms of slots."""
    paths, found = read_logs(root)
    entries = sorted((entry for entry in found if entry.time), key=lambda entry: (entry.time, entry.path, entry.first))
    full = {entry.component: re.split(r"[./]", entry.component)[-1] for entry in entries}
    thrown = {name.rpartition(".")[2] for entry in errors(entries) for name in re.findall(CAMEL, entry.text)}
    files = "|".join(re.escape(name) for path in paths for name in (path, path.rpartition("/")[2])) or "(?!)"
    forms = [("zfile", rf"(?<![\w/])(?:\./|/)?(?:{files}|[\w./-]+\.(?:log|out|jsonl))(?![\w/])"), *FORMS.items()]
    for slot, named in (("zcomp", {*full, *full.values()}), ("zexc", thrown.difference(full, full.values()))):
        parts = [re.findall(r"[A-Z]+(?![a-z])|[A-Za-z][a-z]*|\d+", one) for one in sorted(named, key=len, reverse=True)]
        several = "|".join(r"[\W_]?".join(one) for one in parts) or "(?!)"
        forms.insert(4, (slot, rf"(?i:(?<![\w.])(?:{several})(?![a-z0-9]))"))
    names = {one: one for one in thrown} | {short: name for name, short in full.items()} | {name: name for name in full}
    return entries, {"".join(words_of(short)): name for short, name in names.items()}, forms


def features(tokens: list[str]) -> set[str]:
    """The words, how they begin, neighbours, the cues two by two, and whether it asks for work or for entries."""
    verb = next((word for word in tokens if word not in words_of(FILLERS)), "")
    level = re.search(r"\b(err|entr|warn|fail|exception|\d)", " ".join(tokens)) is not None
    cues = [words for words in CUES.split(";") if {*words.split()} & {*tokens}]
    pairs = {f"{one} and {other}" for one in cues for other in cues} | {*map(" ".join, pairwise(["^", *tokens, "$"]))}
    stems = {f"{word[:length]}~" for word in tokens for length in (4, 5, 6) if len(word) >= length}
    return {"", *tokens, f"off {verb in words_of(OFF_VERBS)}", f"level {level}"} | pairs | stems


@lru_cache(maxsize=1)
def known() -> dict[str, str]:
    """The words of the training wordings and of what stands in them, by themselves and by their sorted letters."""
    said = " ".join(text for said in WORDINGS.values() for text in said)
    words = {*words_of(" ".join([re.sub(r"\{\w+\}", " ", said), CUES, OFF_VERBS, FILLERS, OFF_TASKS, WHERE, SLOTS]))}
    return {"".join(sorted(word)): word for word in words} | {word: word for word in words}


def tokens_of(text: str) -> list[str]:
    """Its words; one that has the letters of a known one and is none is that, as letters were exchanged."""
    found = ((word, known().get(word) or known().get("".join(sorted(word)))) for word in words_of(text))
    return [one or (word if word.isdigit() else "znew") for word, one in found]


@lru_cache(maxsize=20)
def scorer(likely: str, slot: str) -> tuple[dict[str, int], Any]:
    """Ridge regression on these families' training wordings, filled with tokens as if the question had that slot."""
    fill = {"component": "zcomp" if slot == "zcomp" else "znew", "where": WHERE if slot else ALL, "task": OFF_TASKS}
    fill |= {"request": "zreq", "object": "zobj", "exception": "zexc", "host": "zhost", "path": "zurl", "time": "ztime"}
    fill |= {"entry": "error|warning|entry", "entries": "errors|warnings|entries", "trouble": "znew"}
    fill |= {"meaning": "it is znew|znew came in|the znew znew is almost full|somebody znew the znew znew"}
    rare = Counter(word for said in WORDINGS.values() for text in said for word in {*words_of(text)})
    made = []
    for family, at, wording in [(one, *told) for one in likely.split() for told in enumerate(WORDINGS[one])]:
        slots = {name: text.split("|")[7 * at % (text.count("|") + 1)] for name, text in fill.items()}
        words = words_of(wording.format(**slots))  # those of one wording alone are like those of none
        made.append((family, features(["znew" if rare[word] == 1 else word for word in words])))
    seen = Counter(name for _, names in made for name in names)
    column = {name: at for at, name in enumerate(sorted(name for name in seen if seen[name] > 1))}
    x = np.array([[*map(names.__contains__, column)] for _, names in made], np.float32)
    x /= np.sqrt(x.sum(1, keepdims=True))
    y = np.array([[family == one for one in likely.split()] for family, _ in made], np.float32)
    return column, x.T @ np.linalg.solve(x @ x.T + 0.3 * np.eye(len(x), dtype=np.float32), y)


class Question:
    """A question with its slots taken out, and the ways to choose entries for it."""

    def __init__(self, prompt: str, root: Path) -> None:
        self.entries, names, forms = land_of(root)
        self.times: list[str] = []
        self.slot: defaultdict[str, str] = defaultdict(str)
        for slot, form in [*forms, ("zexc", rf"{CAMEL}(?=.*ztime)"), ("zcomp", NAMED)]:
            told = slot in self.slot or (form == NAMED and not {"zfile", "ztime"}.isdisjoint(self.slot))
            if not told and (found := re.findall(form, prompt)):
                self.slot[slot] = names.get("".join(words_of(found[0])), found[0])
                self.times += [f"0{time}"[-8 if time.count(":") > 1 else -5 :] for time in found if slot == "ztime"]
                prompt = re.sub(form, f" {slot} ", prompt)
        self.words, self.tokens = words_of(prompt), tokens_of(prompt)
        self.text = " ".join(self.tokens)
        named = [re.search(rf"\b({names})", self.text) for names in ("warn|error", "entr", "alert|fail|exception")]
        level = next((found[1] for found in named if found), "entr")
        self.level = {"entr": "entry", "warn": "warning", "alert": "warning"}.get(level, "error")

    def family(self) -> str:
        """The best of the families that have the question's slots, and others where nothing speaks for these."""
        likely = next((families for slot, families in NEEDS.items() if slot in self.slot), "")
        slot = next((slot for slot in ("zfile", "zcomp", "ztime") if slot in self.slot), "")
        if not likely and slot == "zcomp":
            likely = "first last component_count before new_error deploy" + " origin" * bool(self.times)
        elif not likely and any(time.count(":") > 1 for time in self.times):  # a stretch of time has only minutes
            likely = "frame victim"
        elif not likely:  # a name that the logs do not have is a new word
            named = " first last component_count" * ("znew" in self.tokens)
            likely = SCOPED + f"{named} match" * (not slot)
        families = f"{likely} offscope".split()
        column, weights = scorer(" ".join(families), slot)
        told = [column[name] for name in features(self.tokens) if name in column]
        scores = weights[told].sum(0) / np.sqrt(len(told)) + [0.2 * (one in {"match", "offscope"}) for one in families]
        return families[int(scores.argmax())]

    def own(self, entries: Iterable[LogEntry]) -> list[LogEntry]:
        return [entry for entry in entries if entry.component == self.slot["zcomp"]]

    def leveled(self, entries: Iterable[LogEntry]) -> list[LogEntry]:
        calm = [entry for entry in entries if self.level == "entry" or entry.level == "WARN"]
        return errors(entries) if self.level == "error" else calm

    def within(self, ends: str = ENDS) -> list[LogEntry]:
        """The entries of the file and the window that the question names."""
        lead = re.search(ends, self.text) if len(self.times) == 1 else None
        since, until = [*self.times, "", ""][:2] if not lead else ("", self.times[0])
        since, file = until if lead and lead[1] in {"of", "at", "during"} else since, self.slot["zfile"].lstrip("./")
        found = [entry for entry in self.entries if not file or f"/{entry.path}".endswith(f"/{file}")]
        return [entry for entry in found if since <= entry.day_time and entry.day_time[: len(until)] <= until]

    def at_time(self, *texts: str) -> list[LogEntry]:
        found = [entry for entry in self.entries if entry.day_time.startswith(tuple(self.times) or "-")]
        return sorted(found, key=lambda entry: -sum(text in entry.text for text in texts))

    def about(self, text: str) -> list[LogEntry]:
        whole = re.compile(rf"(?i)(?<![\w-]){re.escape(text)}(?![\w-])")
        return [entry for entry in self.entries if whole.search(entry.text)]

    def requests(self, like: Iterable[LogEntry]) -> list[LogEntry]:
        asked = {one for entry in like for one in ids_of(entry)}
        return [entry for entry in self.entries if ids_of(entry) & asked]

    def since_start(self) -> tuple[list[LogEntry], list[LogEntry]]:
        """The component's errors of kinds that it has only since its last start, and all entries since then."""
        calm = [one for one in self.own(self.entries) if one.level not in {"ERROR", "WARN"} and not ids_of(one)]
        told = [(one, one.message, log_template(one.message) == log_template(calm[0].message)) for one in calm]
        signs = [(one, bool(START.search(text)) + bool(VERSION.search(text)) + first) for one, text, first in told]
        starts = [one for one, sign in signs if sign >= min(2, max(sign for _, sign in signs))]
        at = self.entries.index(starts[-1]) if starts else 0
        before, after = (errors(self.own(part)) for part in (self.entries[:at], self.entries[at:]))
        old = {log_template(entry.message) for entry in before}
        return [entry for entry in after if log_template(entry.message) not in old], self.entries[at:]

    def ahead(self, entries: Iterable[LogEntry]) -> list[LogEntry]:
        failed = errors(self.own(entries))
        return self.entries[: self.entries.index(failed[0])][::-1] if failed else []

    def users(self) -> list[LogEntry]:
        job = errors(self.at_time(self.slot["zexc"]))[:1]
        things = [thing for entry in job for thing in re.findall(FORMS["zobj"], entry.message)]
        found = self.requests([*job, *(entry for thing in things for entry in self.about(thing))])
        return [entry for entry in found if USER.search(entry.text)]

    def warnings(self, entries: Iterable[LogEntry], least: float) -> list[LogEntry]:
        """The first of the warnings that the question paraphrases best, if it does so at all."""
        there = {log_template(entry.message): entry for entry in reversed([*entries]) if entry.level == "WARN"}
        kin = {log_template(one.message): kin_of(one.message) for one in self.entries if one.level == "WARN"}
        scores, counts = dict.fromkeys(there, 0.0), Counter(word for one in kin.values() for word in one)
        frame = words_of(" ".join(WORDINGS["match"] + WORDINGS["several"]))
        for text, word in ((text, word) for text in there for word in {*self.words} - {*self.slot}):
            worth = [(0.6 if " " in one else 1) * log(1 + len(kin) / counts[one]) for one in kin_of(word) & kin[text]]
            scores[text] += max(worth, default=0.0) * (0.2 if word in frame else 1)
        best = max(scores, key=scores.__getitem__, default="")
        return [there[best]] if best and scores[best] >= least else []


@lru_cache(maxsize=10_000)
def kin_of(text: str) -> set[str]:
    """The stems of the words, and the groups of stems that they are in."""
    words = {word for word in words_of(text) if not word.isdigit()}.difference(words_of(FILLERS))
    own = {re.sub(r"(ing|ed|es|s|er|ly|ion|y|e)$", "", word)[:7] if len(word) > 3 else word for word in words}
    return own | {group for group in KIN.split(";") if own & {*group.split()}}


@lru_cache(maxsize=20_000)
def ids_of(entry: LogEntry) -> set[str]:
    return {*re.findall(FORMS["zreq"], entry.text.split("\n")[0])}


def kind_of(entry: LogEntry) -> str:
    return entry.level + log_template(entry.message)


def most(entries: Iterable[LogEntry], by: str) -> list[LogEntry]:
    groups: dict[str, list[LogEntry]] = {}
    for one in entries:
        key = {"component": one.component, "minute": one.day_time[:5], "message": kind_of(one)}[by]
        groups.setdefault(key, []).append(one)
    return max(groups.values(), key=len, default=[])


def raised(entry: LogEntry) -> str:
    """The function at the bottom of a stack trace: of the last cause in Java, of the last call in Python."""
    lines = entry.text.split("\n")
    frames = [(at, found) for at, line in enumerate(lines) if (found := FRAME.match(line))]
    cause = max((at for at, line in enumerate(lines) if line.startswith("Caused by:")), default=0)
    inner = [found[1] for at, found in frames if found[1] and at > cause][:1] or [found[2] for _, found in frames[-1:]]
    return re.split(r"[.$]", inner[0] or "")[-1] if inner else ""


FOUND: dict[str, tuple[str, Callable[[Question], list[LogEntry]]]] = {  # forms of answers, and what they say
    "first": ("at {place}", lambda q: q.leveled(q.own(q.entries))),
    "last": ("at {place}", lambda q: q.leveled(q.own(q.entries))[::-1]),
    "component_count": ("{count} (r1)", lambda q: q.leveled(q.own(q.entries))),
    "level_count": ("{count} (r1)", lambda q: q.leveled(q.within())),
    "earliest": ("at {place}", lambda q: q.leveled(q.within())),
    "latest": ("at {place}", lambda q: q.leveled(q.within())[::-1]),
    "kinds": ("at {places}", lambda q: [*{kind_of(one): one for one in q.leveled(q.within())[::-1]}.values()][::-1]),
    "noisiest": ("{0.component} (r1)", lambda q: most(q.leveled(q.within()), "component")),
    "top_error": ("at {place} (r1)", lambda q: most(q.leveled(q.within()), "message")),
    "burst": ("in minute {0.day_time:.5} (r1)", lambda q: most(q.leveled(q.within()), "minute")),
    "request": ("{names} (r1)", lambda q: q.about(q.slot["zreq"])),
    "request_failure": ("at {place}", lambda q: errors(q.requests(q.about(re.sub(r" \D*", " ", q.slot["zobj"]))))),
    "frame": ("`{function}`, {place}", lambda q: [*filter(raised, q.at_time(q.slot["zexc"]))]),
    "follow": ("`{function}`, {place}", lambda q: [*filter(raised, q.requests(q.at_time(q.slot["zurl"], "503")[:1]))]),
    "victim": ("user {user} (r1)", lambda q: q.users()),
    "before": ("at {place}", lambda q: [e for e in q.ahead(q.since_start()[1]) if e.level == "WARN"]),
    "new_error": ("at {place}", lambda q: most(q.since_start()[0], "message")),
    "origin": ("`{function}`", lambda q: [e for e in q.ahead(q.within("(?!)")) if raised(e) and not q.own([e])]),
    "deploy": ("{0.component} (r1)", lambda q: most(errors(q.since_start()[1]), "component")),
    "match": ("at {place}", lambda q: q.warnings(q.entries, 3.5)),
    "several": ("{0.component} (r1)", lambda q: q.warnings(q.about(q.slot["zhost"]), 0.0)),
}


def answer(prompt: str, root: Path) -> str:
    """The answer to the prompt about the logs under the root, in the form that the skill's answers have."""
    q = Question(prompt, root)
    form, choose = FOUND.get(q.family(), ("", None))
    if choose is None or not (found := choose(q)):
        return f"There is no such {q.level} (r1 found nothing)." if choose else "escalate: I can only read logs"
    names, user = ", ".join(dict.fromkeys(one.component for one in found)), [*USER.findall(found[0].text), ""][0]
    places = [f"{one.path}:{one.first}" for one in found]
    told = {"place": places[0], "places": ", ".join(places), "count": len(found), "names": names, "user": user}
    return f"It is {form.format(found[0], **told, function=raised(found[0]))}."
