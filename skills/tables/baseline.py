"""The baseline of the skill `tables`: answers about tables by linking words to names and values, without any model.

A question is rewritten: names in full become §, tables T1 (O1 where there is one of it), columns C1; then conditions
and other things become § too. What is left tells the kind (`KINDS`), by rules and by a linear scorer over its words and
cues that is trained on wordings/train.toml: one query over all tables, joined upwards over columns that hold the keys
of others.
"""

# ruff: noqa: S608
import re
import sqlite3
import tomllib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from skillstill_training.authoring.reading import load_tables, quoted_name

UNITS = " cm mm km m kg g mg t lb min mins sec s ms h eur usd gbp chf ct pct c kwh mwh wh kw mw w hp kmh l ml "
MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
COUNTS = ("", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
OPS = {  # in this order; what may follow a number comes with LATER
    ">=": r"at least|no (?:less|fewer|lower|earlier) than|not (?:less|fewer) than|(?:a )?minimum of|since|from|>=",
    "<=": r"at most|no (?:more|greater|higher|later) than|not (?:more than|over)|(?:a )?maximum of|up to|<=|until",
    ">": r"(?:more|greater|higher|larger|bigger|later|longer) than|in excess of|over|above|exceed(?:s|ing)?|after|past"
    "|>|beyond|upwards of",
    "<": r"(?:less|fewer|lower|smaller|earlier|shorter) than|under|below|before|prior to|<",
}
LATER = (
    r"(?:(?P<up>(?:or|and) (?:more|above|over|higher|greater|later|up|after)|onwards?) |(?P<down>(?:or|and) (?:less|"
)
LATER += r"below|under|fewer|lower|smaller|earlier|before)) )?"
FILLER = r"(?:(?:being|is|are|was|were|the|an?|it|to|sometime|falls?|dated?|"
FILLER += r"values?|as|number|in|of|on|:|=|equals?|says|reads|~|'|\"|`) )*"
LINKS = r"(?:(?:as|for|by|the|an?|its|their|is|of|in|one|,|:|\(|\)) )*"
SUMS = (
    "(?P<avg>averages?|avg|mean(?! the| that)|typical)|(?P<sum>total|sum(?:med)?(?: up)?(?: of)?|combined|"
    "overall)|(?P<max>highest|max(?:imum)?|largest|biggest|greatest|most|top|longest|latest|newest|best|peak)|"
    "(?P<min>lowest|min(?:imum)?|smallest|least|fewest|shortest|earliest|oldest|worst|bottom|cheapest)"
)
SUM = re.compile(rf" (?:{SUMS})(?: \w+)?$", re.IGNORECASE)
COUNT = r"how (?:many|often|numerous|large is the set)|numbers?(?! §)|totals?|count(?:s|ed)?|#|amount of|tally"
COUNT += "|size of|quantity|figure|add up"
PERCENT = r"percent(?:s|ages?)?|(?:the|a|what|which|%) share|share of|hundred|proportion|fraction|ratio|%|what part"
NEGATIVE = r"no(?! [.§\d])|not|\w+n ' t|never|without|zero|0|none|nothing|lack\w*|missing|orphan|absent|empty"
DONE = (
    r"rewrite|rebuild|re\w+ate|run|ask|reply|compress|purge|set up|go ahead|delete|remove|erase|plot|draw|chart|"
    "visuali[sz]e|forecast|predict|clear|send|e ?mail|mail|add|rename|update|train|import|create|build|make|call|"
    "phone|fix|correct|repair|back|drop|overwrite|merge|schedule|upload|restart|translate|insert|undo|revert|"
    "export|print|write|set|change|modify|edit|alter|replace|truncate|wipe|reset|archive|move|copy|convert|"
    "migrate|sync|post|install|deploy|notify|message|contact|remind(?! me)|book|buy|order|pay|cancel|approve|assign|"
    "mark|increase|double|round|mask|encrypt|optimi[sz]e|index|generate|design|publish|share|cluster|get rid|"
    "normali[sz]e|save|store|append|fill|enter|register|grant|turn|estimate|project|simulate|put|restore|clean|"
    "deduplicate|swap|adjust|lower|reduce|recommend|suggest|explain"
)
SOFT = "order|print|share|round|make|build|generate|call|turn|book|mark|phone|e ?mail|mail|post|enter|store"
POLITE = r"(?: (?:please|pls|kindly|hey|hi|can|could|would|will|you|i|we|want|need|to|go|and|now|just|,))*"
ASKING = r"\?|\b(?:wh\w+|how|list|show|display|give|tell|find|look|get|need|want|identify|report|return|names?|are|is"
ASKING += r"|any|check) "
FUTURE = r" (?:why|will|going to be|next (?:year|month|week|quarter)|in \w+ years|should be \w+ed|likely|forecast\w*"
FUTURE += r"|predict\w*|regression|trend|heat ?map|diagram|dashboard) "
LEAD = r" (?:with|whose|where|having|have|as|\(|and|for)(?: the| a| an| its)? "
PER = r"per|by|each|every|grouped|broken|group|aggregate|split|break ?down|breakdown|C\d+ ->|all values|one row"
SEVERAL = r"which|what|values?|distinct|different|unique|possible|kinds?|sorts?|list|all|each|every|various|set|range"
SEVERAL += r"|options|name|enumerate|overview|without (?:duplicates|repeat\w*)|dedup\w*|once|appear|occur"
SEVERAL_OF = r" (?:per|each|every|different|distinct|all) "
VERBS = (
    "name|show|state|report|check|list|order|rank|find|count|group|sort|share|call|plan|test|book|look|print|"
    "return|pull|pick|take|split|table|post|make|rate|record|file|trace|compare|query|display|mark|stop|track|"
    "place"
)
STARTS = r"(?:^|[,.:;]|\b(?:please|pls|you|and|to|kindly|just|then|hey|i)) *$"
NAMING = r"(?:(?:has|number|no|nr|#|id|with|key|called|named|the|an?|is|,|\(|:|\.|"
NAMING += r"code|=|==|'|\"|`|/|key|numbered|identified|as) )*"
TOKEN = re.compile(r"[<>!]=|->|\d+(?:[.,]\d+)*|[^\W\d_]+|[^\w\s]")
DECIMALS = r"(?i)[(,;]?\s*(?:(?:rounded )?(?:to|with) )?\b(\d|one|two) (?:decimals?|digits?)(?: places?)?"
DECIMALS += r"(?: after the point)?\)?"
VALUE = rf"(?:\d\d? )?(?:{MONTHS})[a-z]* (?:\d\d? , )?\d{{4}}|\d[\d.,]*(?: [-/] \d+ [-/] \d+)?"
OP = rf"(?P<op>{'|'.join(OPS.values())})"
LIMIT = rf"(?:(?:of )?{OP} )?{FILLER}(?P<n>{VALUE}) {LATER}"
BOUND = rf" (?P<op>{OPS['>']}|{OPS['<']}|at least) (?P<n>\d+) {LATER}"
NUMBER = r" (?P<n>\d+) "
RANGE = rf"{FILLER}(?:between|from) (?P<n>{VALUE}) (?:and|to|until|-) (?P<high>{VALUE}) "
WORK = "escalate: tables can only be read and queried."
WORDINGS = Path(__file__).parent / "wordings" / "train.toml"
KIND_OF = dict.fromkeys(("lookup", "owner", "which_table", "pick"), "value")
KIND_OF |= dict.fromkeys(("filter_count", "dates", "join", "follow", "pick_count"), "count")
KIND_OF |= dict.fromkeys(("aggregate", "literal", "join_aggregate"), "aggregate")
KIND_OF |= {"group": "group", "top_k": "top", "distinct": "list", "having": "having", "share": "share"}
KIND_OF |= {"superlative": "first", "not_exists": "missing", "offscope": "work"}
RULE, RIDGE = 0.3, 20.0  # what the rules' choice is worth, in scores of which the right one is about 1
FILLS = {  # what a question keeps of the wordings' slots; texts in turn
    "condition": "with §|where the §|( § )|whose §|that have §|that have a §|with a § and §",
    "many": "T|T|T with §|T|T ( § )",
    "what": "average C|total C|highest C|lowest C|mean C|number of entries|smallest C|combined C|summed up C",
    "measure": "average C|total C|number of entries",
    "column": "C", "parents": "T", "parent": "O", "one": "O", "name": "§", "key": "§", "part": "§", "clue": "§",
    "by": "C", "order": "highest|lowest", "count": "five|4", "bound": "12",
}  # fmt: skip
COMMON = " ".join((DONE, NEGATIVE, COUNT, PERCENT, OP, LATER, ASKING, FILLER, SUMS, VERBS))
COMMON += re.sub(r"\{\w+\}", " ", WORDINGS.read_text(encoding="utf-8").lower()) if WORDINGS.is_file() else ""
KNOWN = set(re.findall("[a-z]+", COMMON))


def answer(prompt: str, root: Path) -> str:
    """The text that answers the prompt about the workspace."""
    try:
        ask = Ask(prompt, _store(str(root)))
        if not (ask.tables or ask.wheres or ask.columns):
            return _none(ask.lost) if ask.lost and not ask.is_work else WORK
        scores = _scores(ask.text)
        scores[ask.ruled] = scores.get(ask.ruled, 0) + RULE
        likely = sorted((kind for kind in KINDS if KINDS[kind][1](ask)), key=lambda kind: -scores.get(kind, 0))
        return next(filter(None, (KINDS[kind][2](ask) for kind in likely)), _none("such value"))
    except Exception as error:
        return f"escalate: the question could not be read ({type(error).__name__})."


@dataclass(eq=False)
class Column:
    """`index`: the stored values by their letters and digits alone; `spread`: how many differ, of 1."""

    sql: str
    said: str
    index: dict[str, set[Any]]
    spread: float

    def __post_init__(self) -> None:
        values = [value for stored in self.index.values() for value in stored]
        texts, self.pattern = [*map(str, values)], _any_of(map(str, values))
        named = sum(
            len(re.findall(r"[^\W\d_]", text)) > len(re.findall(r"\d", text)) and "@" not in text for text in texts
        )
        number, dated = all(isinstance(value, int | float) for value in values), all(map(_iso, texts))
        name = self.spread > 0.7 and named > len(texts) / 2
        self.kind = "text" if not texts else "number" if number else "date" if dated else "name" if name else "text"

    def among(self, keys: Iterable[str]) -> str:
        texts = [str(value).replace("'", "''") for key in keys for value in self.index.get(key, ())]
        quote = "" if self.kind == "number" else "'"
        return f"{self.sql} in ({', '.join(quote + text + quote for text in texts)})"


@dataclass(eq=False)
class Table:
    """`ups`: the columns that hold keys of other tables, and these tables."""

    name: str
    said: str
    columns: list[Column]
    ups: list[tuple[Column, "Table"]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.one, self.key = (
            re.sub(r"(?<=ss|[^s]x|.z|ch|sh)es$|(?<![su])s$", "", re.sub("ies$", "y", self.said)),
            self.columns[0],
        )
        names = [one for one in self.columns if one.kind == "name"]
        self.label = [*(one for one in names if re.search("(name|title)$", one.said)), *names, self.key][0]

    def way(self, high: "Table") -> list[tuple[Column, "Table"]] | None:
        ways: list[tuple[Table, list[tuple[Column, Table]]]] = [(self, [])]
        for table, way in ways:
            ways += [(step[1], [*way, step]) for step in table.ups if len(way) < 4]
        return next((way for table, way in ways if table is high), None)


class Store:
    """All tables of a workspace behind one connection, and what words may mean in it."""

    def __init__(self, root: Path) -> None:
        self.connection = sqlite3.connect("file::memory:", uri=True, check_same_thread=False)
        names = load_tables(self.connection, root)
        self.connection.create_function("iso", 1, _iso)
        self.tables = [self._table(name) for name in names]
        for low, one, high in [(a, one, b) for a in self.tables for one in a.columns for b in self.tables]:
            keyed = low is not high and high.key.spread == 1 and one.said.endswith(high.key.said)
            low.ups += [(one, high)] * (keyed and len(one.index.keys() & high.key.index.keys()) > len(one.index) / 2)
        self.meant = defaultdict[str, list[tuple[Table, Column | None]]](list)
        pairs = [(table, column) for table in self.tables for column in (None, *table.columns)]
        for form, pair in dict.fromkeys((form, one) for one in pairs for form in self._forms(*one)):
            self.meant[form.replace(" ", "")].append(pair)
        self.many = {one.said.replace(" ", "") for one in self.tables}
        self.forms = _any_of(form for pair in pairs for form in self._forms(*pair))
        self.named = [
            (one, it)
            for one in self.tables
            for it in dict.fromkeys((one.label, one.key, *(it for it in one.columns if it.spread == 1)))
            if it.kind in {"name", "text"}
        ]
        self.things = "|".join(
            sorted((p for _, it in self.named for p in it.pattern.split("|")), key=lambda one: (-len(one), one))
        )
        self.words = set(re.findall(r"[a-z]{3,}", self.things.lower()))

    def _table(self, name: str) -> Table:
        cursor = self.connection.execute(f"select * from {quoted_name(name)} limit 200000")
        heads, rows, columns = [one[0] for one in cursor.description], cursor.fetchall(), []
        for place, head in enumerate(heads):
            index = defaultdict[str, set[Any]](set)
            for value in (row[place] for row in rows if row[place] is not None):
                index[_said(str(value), "")].add(value)
            spread = sum(map(len, index.values())) / max(1, len(rows))
            columns.append(Column(f"{quoted_name(name)}.{quoted_name(head)}", _said(head), index, spread))
        return Table(quoted_name(name), _said(name), columns)

    def _forms(self, table: Table, column: Column | None) -> set[str]:
        """How people may call a table or a column: without its unit, without the table's name; one or many."""
        said = column.said if column else table.said
        short = " ".join(word for word in said.split() if f" {word} " not in UNITS)
        bare = {short.removeprefix(f"{table.one} ")} - {"name", "id", "no"}
        more = re.sub("(?<=[^aeiou])y$", "ie", said) + ("es" if re.search("([sxz]|[cs]h)$", said) else "s")
        counted = {more, re.sub("s$", "", said)} if said != "name" else set()
        return ({said, short} | bare | counted if column else {said, table.one, more, re.sub("uses$", "us", said)}) - {
            ""
        }


@lru_cache(maxsize=8)
def _store(root: str) -> Store:
    return Store(Path(root))


def _any_of(texts: Iterable[str]) -> str:
    """A pattern of these texts, the longest first, with any signs between their words."""
    found = {r"(?: ?[-'./&]? ?)".join(_said(text).split()) for text in texts} - {""}
    return "|".join(sorted(found, key=lambda one: (-len(one), one))) or "(?!)"


def _iso(text: Any) -> str:
    """The date, or its first parts, as YYYY-MM-DD; empty where the text is none."""
    day, year, month = r"(?P<d>\d\d?)", r"(?P<y>\d{4})(?!\d)", rf"(?P<m>\d\d?|(?:{MONTHS})[a-z]*)"
    for form in (
        rf"{year}(?:[-/.]{month}[-/.]{day})?",
        rf"(?:{day}[-/. ]+)?{month}[-/., ]+{year}",
        rf"{month} {day},? {year}",
    ):
        if found := re.match(form, str(text), re.IGNORECASE):
            named = found["m"] and (
                found["m"] if found["m"].isdigit() else MONTHS.find(found["m"][:3].lower()) // 4 + 1
            )
            return "-".join([found["y"], *(f"{int(part):02}" for part in (named, found["d"]) if part)])
    return ""


def _plain(text: str) -> str:
    """Without accents, and with words set apart that are written together."""
    letters = "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one))
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", letters)


def _said(text: str, between: str = " ") -> str:
    return between.join(re.findall(r"\d+|[^\W\d_]+", _plain(text).lower()))


def _none(what: str) -> str:
    return f"There is no {what} (r1 found nothing)."


def _cells(rows: Iterable[Any]) -> list[str]:
    """The rows as text, each once, as our tool shows them."""
    shown = [
        [f"{it:.12g}" if isinstance(it, float) else "NULL" if it is None else str(it) for it in row] for row in rows
    ]
    return list(dict.fromkeys(" | ".join(row) for row in shown))


class Ask:
    """A question, rewritten. `meant`: what C1 may be; `wheres`: tables and what holds of them; `things`: the named."""

    def __init__(self, prompt: str, store: Store) -> None:
        self.store, rounded = store, re.search(DECIMALS, prompt)
        self.decimals = int({"one": "1", "two": "2"}.get(rounded[1].lower(), rounded[1])) if rounded else None
        words = TOKEN.findall(_plain(re.sub(DECIMALS, " ", prompt)))
        self.text = self.asked = f" {' '.join(map(self._corrected, words))} "
        self.wheres, self.things, self.lost = list[tuple[Table, str]](), list[tuple[Table, str, str]](), ""
        self.meant, self.tables = dict[str, list[tuple[Table, Column]]](), dict[str, Table]()
        self._find_names(2)
        self._swap(rf" (?P<v>{store.forms})(?= )", self._mention)
        self._forget_far_columns()
        for mark in self.meant:
            next((pair for pair in self.near(mark) if self._condition(mark, *pair)), None)
        for mark in self.meant:
            next((pair for pair in self.near(mark) if f" {mark} " in self.text and self._apart(mark, *pair)), None)
        others = (partial(self._find_names, 1), self._find_parts)
        for read in (self._find_numbers, *(reversed(others) if self.wheres else others)):
            if not (self.things or self.lost):
                read()
        order = [*self.tables.values(), *store.tables]
        self.things.sort(key=lambda one: order.index(one[0]))
        self.wheres += [(table, sql) for table, sql, _ in self.things[:1]]
        self.columns = [mark for mark in re.findall(r" (C\d+)(?= )", self.text) if self.meant[mark]]

    def _corrected(self, word: str) -> str:
        """The word, two letters swapped where only that makes a word of it."""
        plain = word.lower()
        if len(word) < 4 or plain in KNOWN or plain in self.store.words or plain in self.store.meant:
            return word
        return next((one for one in sorted(KNOWN) if one[0] == plain[0] and sorted(one) == sorted(plain)), word)

    def _swap(self, pattern: str, by: Callable[[re.Match[str]], str]) -> None:
        self.text = re.sub(pattern, by, self.text, flags=re.IGNORECASE)

    def has(self, pattern: str) -> bool:
        return re.search(rf" (?:{pattern}) ", self.text, re.IGNORECASE) is not None

    def _find_names(self, least: int) -> None:
        """Names and codes of so many words that are stored."""

        def thing(found: re.Match[str]) -> str:
            said, early = found["v"], found["early"] or ""
            whole, key = _said(found[0], ""), _said(said, "")
            common = " " not in said and (len(said) < 3 or (said.lower() in KNOWN and not said[0].isupper()))
            if said.count(" ") + 1 < least or key in self.store.meant or common:
                return found[0]
            stored = [
                (table, it.among([one]), said, one)
                for one in (whole, key)
                for table, it in self.store.named
                if one in it.index
            ]
            exact = [one[:3] for one in stored if one[3] == whole and not (early == "the " and said[0].isupper())]
            inside = found.string[: found.start()].strip(" .?!:")[-1:].isalnum()
            if not exact and (found["late"] or (early == "The " and inside)):
                self.lost = found[0].strip()
            self.things += exact or [one[:3] for one in stored]
            return " §"

        self._swap(rf" (?P<early>the )?(?P<v>{self.store.things})(?P<late> (?:II|III|IV|V|VI))?(?= )", thing)

    def _mention(self, found: re.Match[str]) -> str:
        """The mark of a table or column, but where the word is a verb: `name every …`, `show me`, `make up`."""
        said, before = found["v"], found.string[: found.start()]
        after = [*found.string[found.end() :].split(), "", ""]
        told = not re.fullmatch(r"of|for|is|with|where|§|[-:=?,/]|", after[0]) and not (
            after[0].isdigit() and after[1].lower() not in self.store.meant
        )
        counted = (
            re.fullmatch("quantity|amount|volume", said, re.IGNORECASE) and after[0] == "of" and not SUM.search(before)
        )
        if counted and {_said(" ".join(after[1:at]), "") for at in (2, 3)} & self.store.many:
            return found[0]
        verb = re.fullmatch(VERBS, said, re.IGNORECASE) and re.search(STARTS, before, re.IGNORECASE) and told
        verb = verb and not (said.lower() == "plan" and after[0][:1].isupper())
        if (
            verb
            or f"{said} {after[0]}".lower() == "make up"
            or (said == "name" and re.search(" in (?:the|its)$", before))
        ):
            return found[0]
        pairs = self.store.meant[_said(said, "")]
        if table := next((table for table, column in pairs if column is None), None):
            mark = f"{'T' if _said(said) == table.said != table.one else 'O'}{len(self.tables)}"
            self.tables[mark] = table
            return f" {mark}"
        mark = f"C{len(self.meant)}"
        self.meant[mark] = [(table, column) for table, column in pairs if column]
        return f" {mark}"

    def _forget_far_columns(self) -> None:
        """Columns of tables that those which are named do not lead to."""
        near = {high for low in self.tables.values() for high in self.store.tables if low.way(high) is not None}
        for mark, pairs in self.meant.items():
            self.meant[mark] = [pair for pair in pairs if not near or pair[0] in near]
            if not self.meant[mark]:
                self.text = self.text.replace(f" {mark} ", f" {pairs[0][1].said} ")

    def near(self, mark: str, main: Table | None = None) -> list[tuple[Table, Column]]:
        """The columns that may be meant, those of the table that was named last first."""
        before, _, after = self.text.partition(f" {mark} ")
        marks = [*reversed(re.findall(r" ([TO]\d+)", before)), *re.findall(r"([TO]\d+)", after)]
        order = [*([main] if main else []), *(self.tables[one] for one in marks)]
        return sorted(self.meant[mark], key=lambda one: order.index(one[0]) if one[0] in order else len(order))

    def _condition(self, mark: str, table: Table, column: Column) -> bool:
        """Takes out what is said about the column's value; whether there was anything."""
        forms = [
            rf" {mark} {RANGE}",
            rf" {mark} {FILLER}{LIMIT}(?![TO]\d)",
            rf" {LIMIT}(?:as|for|in) (?:(?:its|the|an?) )?{mark} ",
        ]
        forms += [rf" {OP} (?P<n>{VALUE}) {LATER}{mark} "]
        if column.kind in {"text", "name"}:
            apart = r"(?-i:[A-Z]{1,2}|\w{3,})" if any(len(key) < 3 for key in column.index) else ""
            forms = [rf" {mark} {FILLER}(?P<no>not )?(?P<v>{column.pattern}) (?![TO]\d)"]
            forms += [rf" (?P<v>(?={apart}){column.pattern}) {LINKS}{mark} ", rf" (?P<v>{column.pattern}) as {mark} "]
        for form in forms:
            found = re.search(form, self.text, re.IGNORECASE)
            if found and (sql := _sql(column, found.groupdict())):
                self.wheres.append((table, sql))
                self.text = self.text.replace(found[0], " § ", 1)
                return True
        return False

    def _apart(self, mark: str, table: Table, column: Column) -> bool:
        """Takes out a value of the column that stands elsewhere in the question; whether there was one."""
        found = re.finditer(rf" (?P<v>{column.pattern})(?= )", self.text, re.IGNORECASE)
        for one in found if column.kind in {"text", "name"} and column.spread < 0.5 else ():
            plain = one["v"].lower()
            if (
                (one["v"][0].isupper() or not KNOWN.issuperset(plain.split()))
                and len(plain) > 2
                and not re.search(SEVERAL_OF + mark, self.text, re.IGNORECASE)
            ):
                self.wheres.append((table, column.among([_said(plain, "")])))
                self.text = self.text.replace(one[0], " §", 1).replace(f" {mark} ", f" {column.said} ")
                return True
        return False

    def _find_numbers(self) -> None:
        """`order 5184`, `16 is a visit`, and codes that are not stored."""
        forms = (
            rf" (?P<t>O\d+) {NAMING}(?P<k>\d+)(?= )",
            r" (?P<k>\d+) (?:(?:is|an?|the|,|\(|\?) ){1,3}(?P<t>O\d+)(?= )",
        )
        for found in (found for form in forms for found in re.finditer(form, self.text)):
            table = self.tables[found["t"]]
            if table.key.spread == 1 and table.key.kind == "number":
                self.things = [(table, table.key.among([found["k"]]), found["k"])]
                self.lost = "" if found["k"] in table.key.index else f"{table.one} {found['k']}"
                self.text = self.text.replace(found[0], f" {found['t']} §", 1)
                return
        if coded := re.search(r" ([A-Za-z]+) - (\d+) ", self.text):
            self.lost = f"{coded[1]}-{coded[2]}"

    def _find_parts(self) -> None:
        """A name of which a part is given, or which is not stored."""
        words = ["", *self.text.split()]
        names = " ".join(one if self._is_name(one, before) else "|" for before, one in pairwise(words))
        runs = sorted((run.strip() for run in names.split("|") if run.strip()), key=lambda run: -run.count(" "))
        tables = (
            [table for mark, table in self.tables.items() if mark[0] == "O"]
            or [*(pair[0] for pairs in self.meant.values() for pair in pairs[:1]), *self.tables.values()]
            or self.store.tables
        )
        for run in runs if self.wheres else [run for run in runs if " " not in run]:
            for table in dict.fromkeys(one for one in tables if one.label.kind == "name"):
                stored = [(key, str(value)) for key, values in table.label.index.items() for value in values]
                if keys := {key for key, value in stored if f" {_said(run)} " in f" {_said(value)} "}:
                    self.things.append((table, table.label.among(keys), run))
            if self.things:
                self.text = self.text.replace(f" {run} ", " § ")
                return
        self.lost = next((run for run in runs if " " in run or run[0].isupper()), "")

    def _is_name(self, word: str, before: str) -> bool:
        plain, big = word.lower(), word[0].isupper() and not re.fullmatch(r"|[.?!:]", before)
        if not word.isalpha() or len(word) < 3 - big:
            return False
        stored = plain in self.store.words and (big or plain not in KNOWN)
        return stored or (big and plain not in KNOWN and not word.isupper())

    @cached_property
    def sums(self) -> list[tuple[str, str]]:
        """The aggregates that are named, and the words behind them."""
        found = re.finditer(rf"(?<! i)(?<! you) (?:{SUMS})(?= )", self.text, re.IGNORECASE)
        return [(str(one.lastgroup), self.text[one.end() :]) for one in found]

    @cached_property
    def measure(self) -> tuple[str, str]:
        """The last aggregate and the column that it is taken of; count and none where there is none."""
        for what, behind in self.sums[-1:]:
            marks = re.findall(r"^(?: (?:of|the|an?|their|its|value))* (C\d+) ", behind) or self.columns
            numbers = [
                mark for mark in marks if any(one.kind in {"number", "date"} for _, one in self.meant.get(mark, []))
            ]
            if numbers and (len(marks) == 1 or not re.match(" (?:number|count|amount|many) ", behind)):
                return what, numbers[0]
        return "count", ""

    @cached_property
    def by(self) -> str:
        """The column that is grouped by."""
        others = [mark for mark in self.columns if self.meant[mark] != self.meant.get(self.measure[1])]
        led = [mark for mark in others if self.has(f"(?:per|by|each|every|single|which|different|what|for|of) {mark}")]
        texts = [mark for mark in [*led, *others] if self.meant[mark][0][1].kind != "number"]
        return next(iter([*texts, *led, *others]), "")

    @cached_property
    def main(self) -> Table:
        """The table whose rows are asked about: it leads to all others."""
        tables = [*self.tables.values(), *(table for table, _ in self.wheres)]
        tables = tables or [pair[0] for mark in self.columns[:1] for pair in self.meant[mark]]
        leading = [one for one in tables if all(one.way(other) is not None for other in tables)]
        return [*leading, *tables][0]

    @cached_property
    def top(self) -> int:
        if span := re.search(r" 1 (?:to|-) (\d+) ", self.text):
            return int(span[1])
        words = [str(COUNTS.index(one)) if one in COUNTS else one for one in self.text.lower().split()]
        return next((int(one) for one in words if one.isdigit() and 0 < int(one) <= 100), 0)

    @property
    def order(self) -> str:
        return "" if [what for what, _ in self.sums if what in {"min", "max"}][-1:] == ["min"] else "desc"

    def rows(self, main: Table, what: str, tail: str = "", *beside: Table) -> list[Any]:
        """The result of a query over the table, those beside it and those of the conditions."""
        joins: dict[str, str] = {}
        for table in (*beside, *(table for table, _ in self.wheres)):
            for column, high in main.way(table) or ():
                joins[high.name] = f"join {high.name} on {column.sql} = {high.key.sql}"
        where = " and ".join(sql for table, sql in self.wheres if main.way(table) is not None) or "1"
        query = f"select {what} from {main.name} {' '.join(joins.values())} where {where} {tail}"
        return self.store.connection.execute(query).fetchall()

    def absent(self, *kept: str) -> str:
        """What is named, or wanted as a value, and stands nowhere."""
        for mark in () if self.lost else self.columns:
            column = self.meant[mark][0][1]
            if mark not in kept and column.kind == "text" and re.search(LEAD + mark, self.text, re.IGNORECASE):
                return _none(f"such {column.said}")
        for table, _, said in () if self.lost else self.things[:1]:
            if not self.rows(table, "1", "limit 1"):
                return _none(f"{table.one} {said} like that")
        return _none(self.lost) if self.lost else ""

    @property
    def ruled(self) -> str:
        return next(kind for kind, (told, needed, _) in KINDS.items() if needed(self) and told(self))

    @cached_property
    def is_work(self) -> bool:
        """Whether something is to be done, foretold or explained, and nothing looked up."""
        if re.search(FUTURE, self.text, re.IGNORECASE) or self.has(f"{COUNT}|{PERCENT}|which|what|whats"):
            return re.search(FUTURE, self.text, re.IGNORECASE) is not None
        if found := re.match(rf"{POLITE} (?P<verb>{DONE}) (?P<next>\S*)", self.asked, re.IGNORECASE):
            soft = re.fullmatch(SOFT, found["verb"], re.IGNORECASE) and (self.things or self.sums)
            return not (
                soft
                or found["next"].isdigit()
                or found["next"] == "("
                or self.text.startswith((" O0 §", " T0 §", " §"))
            )
        lacking = self.has(NEGATIVE) and len(self.tables) > 1
        return not (self.columns or self.wheres or self.lost or lacking or re.search(ASKING, self.asked, re.IGNORECASE))


def _sql(column: Column, said: dict[str, str | None]) -> str:
    if text := said.get("v"):
        return f"{'not ' if said.get('no') else ''}{column.among([_said(text, '')])}"
    values = [re.sub(r" ([-/,]) ", r"\1", said[one] or "") for one in ("n", "high") if said.get(one)]
    values = [f"'{_iso(one)}'" if column.kind == "date" else one.replace(",", "") for one in values]
    named = column.sql if column.kind != "date" else f"substr(iso({column.sql}), 1, {len(values[0]) - 2})"
    if len(values) == 2:
        return f"{named} between {values[0]} and {values[1]}"
    return f"{named} {_operator(said)} {values[0]}" if values[0] != "''" else ""


def _operator(said: dict[str, str | None]) -> str:
    said_so = [name for name, pattern in OPS.items() if re.fullmatch(pattern, said.get("op") or "", re.IGNORECASE)]
    return ">=" if said.get("up") else "<=" if said.get("down") else [*said_so, "="][0]


def _shared(ask: Ask) -> str:
    everything = ask.store.connection.execute(f"select count(*) from {ask.main.name}").fetchone()[0]
    part = 100 * len(ask.rows(ask.main, "1")) / max(1, everything)
    return ask.absent() or f"It is {round(part, 1 if ask.decimals is None else ask.decimals):.12g} % (r1)."


def _missing(ask: Ask) -> str:
    tables = list(dict.fromkeys([*ask.tables.values(), *(table for table, _ in ask.wheres)]))
    steps = [(low, *step) for high in tables for low in tables for step in low.ups if step[1] is high]
    for child, column, parent in steps[:1]:
        held = {row[0] for row in ask.rows(child, column.sql)}
        rows = ask.store.connection.execute(f"select {parent.label.sql}, {parent.key.sql} from {parent.name}")
        return _listed(row[:1] for row in rows if row[1] not in held)
    return ""


def _listed(rows: Iterable[Any]) -> str:
    names = [one for one in _cells(rows) if one != "NULL"]
    return f"They are {', '.join(names)} (r1)." if names else _none("such value")


def _lines(rows: Iterable[Any]) -> str:
    return "\n".join(["Rows (r1):", *lines]) if (lines := _cells(rows)) else _none("such row")


def _grouped(ask: Ask, form: str = "lines") -> str:
    what, mark = ("count", "") if form == "having" else ask.measure
    (table, column), measured = ask.near(ask.by, ask.main)[0], ask.near(mark, ask.main)[:1] if mark else []
    value = f"{what}({measured[0][1].sql})" if measured else "count(*)"
    tail = "group by 1"
    if form == "having" and (bound := re.search(BOUND, ask.text, re.IGNORECASE) or re.search(NUMBER, ask.text)):
        tail += f" having count(*) {_operator(bound.groupdict()) if 'op' in bound.groupdict() else '>'} {bound['n']}"
    elif form == "first":
        tail = f"and {column.sql} is not null group by 1 order by {value} {ask.order} limit 1"
    elif what in {"avg", "sum"}:
        value = f"round({value}, {2 if ask.decimals is None else ask.decimals})"
    rows = ask.rows(
        ask.main,
        column.sql if form != "lines" else f"{column.sql}, {value}",
        tail,
        table,
        *(one[0] for one in measured),
    )
    if form == "first" and rows:
        return ask.absent(ask.by, mark) or f"It is {_cells(rows)[0]} (r1)."
    return ask.absent(ask.by, mark) or (_lines(rows) if form == "lines" else _listed(rows))


def _aggregate(ask: Ask) -> str:
    what, mark = ask.measure
    table, column = ask.near(mark, ask.main)[0]
    decimals = 2 if ask.decimals is None else ask.decimals
    value = f"{what}({column.sql})" if what in {"min", "max"} else f"round({what}({column.sql}), {decimals})"
    found = _cells(ask.rows(table, value))[0]
    return ask.absent(mark) or (_none("such row") if found == "NULL" else f"The {what} {column.said} is {found} (r1).")


def _top(ask: Ask) -> str:
    mark = ask.measure[1] or ask.columns[0]
    table, column = ask.near(mark, ask.main)[0]
    sort = f"iso({column.sql})" if column.kind == "date" else column.sql
    tail = f"and {column.sql} is not null order by {sort} {ask.order} limit {ask.top}"
    rows = ask.rows(ask.main, f"{ask.main.label.sql}, {column.sql}", tail, table)
    return ask.absent(*(one for one in ask.columns if ask.meant[one] == ask.meant[mark])) or _lines(rows)


def _counted(ask: Ask) -> str:
    kept = ask.columns if ask.things else ()
    return ask.absent(*kept) or f"There are {len(ask.rows(ask.main, '1'))} {ask.main.said} (r1)."


def _value(ask: Ask) -> str:
    if not ask.wheres or not ask.columns or ask.absent(*ask.columns):
        return ask.absent(*ask.columns) or _none("such column")
    *conditions, last = ask.wheres
    names = {table.label for table, _, _ in ask.things}
    asked = [mark for mark in ask.columns if not names & {column for _, column in ask.meant[mark]}] or ask.columns
    for low, sql in [one[:2] for one in ask.things] or [last]:
        named = [one for one in ask.tables.values() if one is not low and low.way(one)][-1:]
        ask.wheres = [*conditions, (low, sql)]
        for pairs in (ask.meant[mark] for mark in asked):
            for table, column in sorted(pairs, key=lambda one: (one[0] not in named, one[0] is not low)):
                notnull = f"and {column.sql} is not null limit 1"
                if low.way(table) is not None and (rows := ask.rows(low, column.sql, notnull, table)):
                    return f"The {column.said} is {_cells(rows)[0]} (r1)."
    return _none("such row")


def _is_grouping(ask: Ask) -> bool:
    asked = (ask.sums or ask.has(COUNT)) and ask.by and not ask.things
    return bool(asked) and (ask.has(PER) or not re.search(LEAD + ask.by, ask.text, re.IGNORECASE))


def _is_ranking(ask: Ask) -> bool:
    return bool(ask.top and ask.columns) and not {what for what, _ in ask.sums} & {"avg", "sum"}


def _is_by(ask: Ask) -> bool:
    """Whether there is a column to group by, and not one of which a value is wanted that stands nowhere."""
    wanted = re.search(rf"{LEAD}{ask.by} |{ask.by} (?:is|=|==) | as {ask.by} ", ask.text, re.IGNORECASE)
    return bool(ask.by) and (len(ask.sums) > 1 or not wanted or ask.has(f"(?:per|by|each|every|different) {ask.by}"))


def _cues(text: str) -> list[str]:
    named = {"count": COUNT, "share": PERCENT, "not": NEGATIVE, "per": PER, "several": SEVERAL, "work": DONE}
    named |= {"sum": SUMS, "asking": ASKING.strip(" "), "more": OPS[">"], "first": rf"^{POLITE} (?:{DONE})"}
    cues = [name for name, form in named.items() if re.search(rf" (?:{form}) ", text, re.IGNORECASE)]
    cues += ["first"] * bool(re.match(rf"{POLITE} (?:{DONE}) ", text, re.IGNORECASE))
    return [*cues, *["future"] * bool(re.search(FUTURE, text, re.IGNORECASE))]


def _features(text: str) -> set[str]:
    """Of a question, rewritten: its words, neighbours, cues and how many of each mark there are."""
    words = [re.sub(r"^([TOC])\d+$", r"\1", word) for word in text.split()]
    words = ["#" if word.isdigit() else word if word in "TOC" else word.lower() for word in words]
    cues = [*_cues(text), *(mark + str(min(words.count(mark), 3)) for mark in "TOC§#")]
    both = {f"{one} & {other}" for one in cues for other in cues if one <= other}
    ends = ["^", *words, "$"]
    return {*words, *map(" ".join, pairwise(ends)), *map(" _ ".join, zip(ends, ends[2:], strict=False)), *both}


@lru_cache(maxsize=1)
def _scorer() -> tuple[dict[str, int], Any]:
    """Ridge regression on the training wordings, with their slots filled in turn."""
    texts = tomllib.loads(WORDINGS.read_text(encoding="utf-8"))
    made = []
    for kind, wording, at in ((KIND_OF[one], text, at) for one, said in texts.items() for at, text in enumerate(said)):
        slots = {name: text.split("|")[at % (text.count("|") + 1)] for name, text in FILLS.items()}
        text = " ".join(TOKEN.findall(_plain(re.sub(DECIMALS, " ", wording)).format_map(slots)))
        made.append((kind, _features(f" {text} ")))
    seen = Counter(name for _, names in made for name in names)
    columns = {name: at for at, name in enumerate(one for one in seen if seen[one] > 1)}
    x = np.zeros((len(made), len(columns)), np.float32)
    for row, (_, names) in enumerate(made):
        x[row, [columns[name] for name in names if name in columns]] = 1
    y = np.array([[kind == one for one in KINDS] for kind, _ in made], np.float32)
    return columns, x.T @ np.linalg.solve(x @ x.T + RIDGE * np.eye(len(x), dtype=np.float32), y)


def _scores(text: str) -> dict[str, float]:
    columns, weights = _scorer()
    found = weights[[columns[name] for name in _features(text) if name in columns]].sum(0)
    return dict(zip(KINDS, found.tolist(), strict=True))


# Of each kind: what tells it by rule, the first that fits being taken; what it cannot do without; how it is answered.
KINDS: dict[str, tuple[Callable[[Ask], Any], Callable[[Ask], Any], Callable[[Ask], str]]] = {
    "work": (lambda ask: ask.is_work, lambda _: True, lambda _: WORK),
    "share": (lambda ask: ask.has(PERCENT), lambda _: True, _shared),
    "missing": (
        lambda ask: ask.has(NEGATIVE) and not ask.things,
        lambda ask: len({*ask.tables.values()}) > 1,
        _missing,
    ),
    "having": (
        lambda ask: re.search(BOUND, ask.text, re.IGNORECASE),
        lambda ask: ask.by and re.search(NUMBER, ask.text),
        partial(_grouped, form="having"),
    ),
    "top": (lambda ask: ask.sums and not ask.things, _is_ranking, _top),
    "first": (lambda ask: len(ask.sums) > 1 and not ask.things, _is_by, partial(_grouped, form="first")),
    "group": (_is_grouping, _is_by, _grouped),
    "aggregate": (lambda _: True, lambda ask: ask.measure[1], _aggregate),
    "count": (lambda ask: ask.has(COUNT), lambda ask: not ask.things or len({*ask.tables.values()}) > 1, _counted),
    "list": (
        lambda ask: ask.tables and ask.has(SEVERAL) and not (ask.things or ask.lost),
        lambda ask: ask.by,
        partial(_grouped, form="list"),
    ),
    "value": (lambda _: True, lambda _: True, _value),
}
