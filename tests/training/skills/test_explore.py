"""The goal families of `explore` in a small workspace: each yields goals, and its checks tell right from wrong."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from pydantic import JsonValue
from skillstill.skills.code import import_from
from skillstill.skills.skill import load_skill
from skillstill_training.authoring.attempt import Attempt
from skillstill_training.authoring.checks import judge
from skillstill_training.authoring.families import Family, load_families, load_wordings, slots
from skillstill_training.authoring.goal import Draft, Goal
from skillstill_training.episode import execute, oracle_context
from skillstill_training.run.recipe import SpeechConfig, load_recipe
from skillstill_training.sampling.goal_builder import GoalBuilder, UnfitGoal
from skillstill_training.workspaces import BuiltWorkspace, load_sources

from tests.scenes import ROOT, write
from tests.training.skills.proofs import once

SKILL = ROOT / "skills" / "explore"
FAMILIES = {family.name: family for family in load_families(SKILL)}
DRAFTS = 12  # drafts of each family
pytestmark = pytest.mark.anyio

FILES = {
    "shop/errors.py": """
class ShopError(Exception):
    pass


class StoreError(ShopError):
    pass


class LockedStoreError(StoreError):
    pass
""",
    "shop/limits.py": """
PAGE_SIZE = 25
RETRY_COUNT = 7
""",
    "shop/store.py": """
from shop.errors import LockedStoreError, StoreError
from shop.limits import PAGE_SIZE, RETRY_COUNT


class BaseStore:
    def open_session(self, user):
        if user is None:
            raise StoreError
        return Session(user)

    def find_items(self, query):
        return []

    def drop_items(self, query):
        raise NotImplementedError


class DiskStore(BaseStore):
    def drop_items(self, query, strict=False):
        check_unlocked(query)


class CloudStore(DiskStore):
    def list_buckets(self, prefix="main", limit=PAGE_SIZE):
        return [prefix] * limit


class MemoryStore(BaseStore):
    def find_items(self, query):
        return [query]


class Session:
    def __init__(self, user):
        self.user = user


def check_unlocked(query):
    if query == "locked":
        raise LockedStoreError(query)
    return query


def log_in(user, timeout=30, codec="latin-1") -> Session:
    return Session(user)


def purge_all(store):
    for _ in range(RETRY_COUNT):
        print(store)


def purge_one(store):
    return check_unlocked(store)


def count_rows(table, header=True):
    rows = table.split("ledger")
    return len(rows) - header
""",
    "shop/web.py": """
from shop.store import check_unlocked, log_in


def find_items(request):
    request.authorise_user()
    return log_in(request.user)


def render_page(request):
    log_in(request)
    return check_unlocked(request)
""",
    "shop/cache.py": """
class LocalCache:
    def find_items(self, query):
        raise LookupError(query)
""",
    "tests/test_store.py": """
from shop.store import count_rows


def test_rows():
    assert count_rows("a") == 0
""",
    "src/lib.rs": """
pub struct RowReader {
    limit: usize,
}

pub fn read_header(limit: usize) -> RowReader {
    let delimiter = limit;
    RowReader { limit: delimiter }
}

pub fn skip_blank(reader: RowReader) -> usize {
    reader.limit
}
""",
    "native/buffer.c": """
int grow(int have) { /* spillover */
  return have * 2;
}
""",
    "native/other.c": "int idle(void) { return 0; }\n",
}
STORE, WEB, TESTS = "shop/store.py", "shop/web.py", "tests/test_store.py"
NOTES: dict[str, JsonValue] = {
    "docstrings": {"shop/store.py": {"count_rows": "Returns the number of lines that the ledger has"}},
    "doc_comments": {"src/lib.rs": {"read_header": "Parses the names that stand before the first delimiter"}},
    "changes": [{"description": "avoid a spillover when too much is written", "files": ["native/buffer.c"]}],
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> BuiltWorkspace:
    return BuiltWorkspace("shop", "train", write(tmp_path_factory.mktemp("shop"), FILES), NOTES)


@once
async def goals(family: Family, built: BuiltWorkspace) -> list[Goal]:
    """Return proven goals of the family, each in a wording that consists of its slots."""
    builder = GoalBuilder(load_skill(SKILL), SpeechConfig(loose=0, typo=0, scoped=0), seed=1)
    found = []
    for draft in islice(family.drafts(built, Random(1)), DRAFTS):
        wording = " ".join(f"{{{slot}}}" for slot in draft.words)
        try:
            goal = builder.compose(draft, family, built, "train", [("plain", wording)])
        except UnfitGoal:
            continue
        found.append(await builder.prove(goal, family, built))
    return found


def drafts(name: str, built: BuiltWorkspace, seeds: int = 1) -> Iterator[Draft]:
    for seed in range(seeds):
        yield from islice(FAMILIES[name].drafts(built, Random(seed)), DRAFTS)


def step(name: str) -> Callable[[Path, Random], dict[str, JsonValue]]:
    """Return a step of the skill's own `steps.py`."""
    function: Callable[[Path, Random], dict[str, JsonValue]] = getattr(import_from(SKILL, "steps"), name)
    return function


def place_of(path: str, text: str) -> str:
    """Return the place of the only line of a file that begins with the text."""
    (line,) = [number for number, line in enumerate(FILES[path].split("\n"), 1) if line.strip().startswith(text)]
    return f"{path}:{line}"


def everything() -> str:
    """Return an answer that lists every line of every file."""
    lines = [f"{path}:{at} {line}" for path in FILES for at, line in enumerate(FILES[path].split("\n"), 1)]
    return "escalate" + " nothing, none: ".join(lines)


@pytest.mark.parametrize("name", FAMILIES)
async def test_each_family_yields_goals_that_its_own_plan_solves(name: str, built: BuiltWorkspace) -> None:
    assert await goals(FAMILIES[name], built)


@pytest.mark.parametrize("name", FAMILIES)
async def test_no_check_accepts_an_empty_answer_or_one_that_lists_everything(name: str, built: BuiltWorkspace) -> None:
    for goal in await goals(FAMILIES[name], built):
        for answer in ("", "I do not know.", everything()):
            attempt = Attempt.of_text(goal.prompt, answer)
            assert not judge(goal.check, attempt).passed, (goal.prompt, answer[:40])


@pytest.mark.parametrize("name", FAMILIES)
async def test_no_check_accepts_the_answer_to_another_question_of_its_family(name: str, built: BuiltWorkspace) -> None:
    found = await goals(FAMILIES[name], built)
    for goal in found:
        for other in found:
            if other.check != goal.check:
                assert not judge(goal.check, Attempt.of_text(goal.prompt, other.answer)).passed, (goal, other.answer)


@pytest.mark.parametrize("name", FAMILIES)
async def test_detours_lead_to_the_same_answer(name: str, built: BuiltWorkspace) -> None:
    family = FAMILIES[name]
    for goal in await goals(family, built):
        context = oracle_context(goal, 1, {"miss": 1.0, "wrong": 1.0})
        _, judgement = await execute(goal, family, load_skill(SKILL), built.root, context)
        assert judgement.passed, judgement.why


@pytest.mark.parametrize("name", ["definition", "signature", "bases", "raises", "callers", "importers", "tests"])
def test_look_ups_ask_for_what_is_not_there_in_the_same_words_as_for_what_is(name: str, built: BuiltWorkspace) -> None:
    found = [draft for seed in range(30) for draft in islice(FAMILIES[name].drafts(built, Random(seed)), DRAFTS)]
    absent = [draft for draft in found if draft.check.kind == "absent"]
    present = {draft.pair for draft in found if draft.check.kind != "absent"}
    assert absent
    assert {draft.pair for draft in absent} <= present
    text = "".join(FILES.values()).lower()
    if name != "tests":
        assert not any(draft.words["name"].rpartition(".")[2].lower() in text for draft in absent)


@pytest.mark.parametrize(
    ("name", "slot", "value", "right", "wrong"),
    [
        (
            "definition",
            "name",
            "log_in",
            f"See {place_of(STORE, 'def log_in')}.",
            f"It is in {place_of(STORE, 'def purge_all')}.",
        ),
        ("signature", "name", "log_in", "user, timeout (30) and codec", "user and timeout"),
        ("default", "parameter", "timeout", "30 seconds, as r1 shows", "latin-1"),
        ("bases", "name", "DiskStore", "Its only base is BaseStore.", "BaseStore and Session"),
        ("raises", "name", "check_unlocked", "a LockedStoreError", "LockedStoreError or StoreError"),
        (
            "callers",
            "name",
            "log_in",
            f"{place_of(WEB, 'return log_in')}, {place_of(WEB, 'log_in(')}",
            place_of(WEB, "log_in("),
        ),
        ("importers", "name", "check_unlocked", "just shop/web.py", "tests/test_store.py"),
        ("tests", "name", "count_rows", place_of(TESTS, "assert"), place_of(TESTS, "from")),
        ("inherited", "method", "find_items", place_of(STORE, "return []"), place_of(STORE, "return [query]")),
        ("default_constant", "name", "list_buckets", "PAGE_SIZE, so 25", "PAGE_SIZE"),
    ],
)
def test_a_right_answer_passes_in_other_words_and_a_near_miss_fails(
    name: str, slot: str, value: str, right: str, wrong: str, built: BuiltWorkspace
) -> None:
    found = (draft for draft in drafts(name, built, seeds=30) if draft.check.kind != "absent")
    draft = next(draft for draft in found if draft.words[slot].endswith(value))
    prompt = " ".join(draft.words.values())
    assert judge(draft.check, Attempt.of_text(prompt, right)).passed
    assert not judge(draft.check, Attempt.of_text(prompt, wrong)).passed


def test_doc_comments_are_noted_and_taken_out(tmp_path: Path) -> None:
    files = {
        "src/lib.rs": "/// Reads a row. Slowly.\n#[inline]\npub fn read_row() {}\n",
        "row.go": "package row\n\n// Skip passes over\n// a row.\nfunc Skip() {\n\t// not this one\n}\n",
    }
    root = write(tmp_path, files)
    noted = step("strip_doc_comments")(root, Random(1))
    assert noted == {
        "doc_comments": {"row.go": {"Skip": "Skip passes over a row"}, "src/lib.rs": {"read_row": "Reads a row"}}
    }
    assert (root / "src/lib.rs").read_text() == "#[inline]\npub fn read_row() {}\n"
    assert (root / "row.go").read_text() == "package row\n\nfunc Skip() {\n\t// not this one\n}\n"


def test_patches_of_one_or_two_source_files_are_noted_whatever_their_language(tmp_path: Path) -> None:
    patch = "Description: avoid a spillover here\n\n--- a/buffer.c\n+++ b/buffer.c\n@@ -1 +1 @@\n-int a;\n+int b;\n"
    files = {
        "buffer.c": "int a;\n",
        "debian/patches/series": "one.patch\ntwo.patch\n",
        "debian/patches/one.patch": patch,
    }
    root = write(tmp_path, files | {"debian/patches/two.patch": patch.replace("buffer.c", "absent.c")})
    noted = step("described_patches")(root, Random(1))
    assert noted == {"changes": [{"description": "avoid a spillover here", "files": ["buffer.c"]}]}
    assert not (root / "debian").exists()


async def test_a_loosely_said_name_is_found_as_it_was_said(built: BuiltWorkspace) -> None:
    family = FAMILIES["bases"]
    builder = GoalBuilder(load_skill(SKILL), SpeechConfig(loose=1, typo=0, scoped=0), seed=1)
    for draft in drafts("bases", built):
        goal = builder.compose(draft, family, built, "train", [("plain", "{name}?")])
        proven = await builder.prove(goal, family, built)
        assert proven.absent or draft.words["name"] in proven.answer


def test_described_functions_are_not_named_in_their_goals(built: BuiltWorkspace) -> None:
    draft = next(iter(drafts("needle", built)))
    assert draft.words == {
        "action": "return the number of lines that the ledger has",
        "actions": "returns the number of lines that the ledger has",
    }
    assert draft.hidden == ("count_rows",)


def test_drafts_depend_on_the_random_generator_alone(built: BuiltWorkspace) -> None:
    for family in FAMILIES.values():
        once, again = (list(islice(family.drafts(built, Random(3)), DRAFTS)) for _ in range(2))
        assert once == again


def test_each_family_has_25_wordings_that_use_only_its_slots(built: BuiltWorkspace) -> None:
    wordings = load_wordings(SKILL, "train", tuple(FAMILIES.values()))
    for family in FAMILIES.values():
        if family.held_out:
            assert family.name not in wordings
            continue
        known = next(iter(drafts(family.name, built))).words.keys()
        texts = wordings[family.name]
        assert len(set(texts)) == len(texts) >= 25, family.name
        for text in texts:
            assert slots(text) <= known, text


def test_at_least_half_of_the_families_are_hard_and_one_is_held_out() -> None:
    assert sum(family.hard for family in FAMILIES.values()) >= len(FAMILIES) / 2
    assert sum(family.held_out for family in FAMILIES.values()) == 1
    assert all(family.plan for family in FAMILIES.values())


def test_workspaces_and_recipe_are_declared_for_every_split() -> None:
    sources = load_sources(SKILL)
    count = {split: sum(source.split == split for source in sources) for split in ("train", "validation", "test")}
    assert count["train"] >= 8
    assert count["validation"] >= 4
    assert count["test"] >= 8
    assert all(source.sha256 for source in sources)
    assert set(load_recipe(SKILL).goals.families) <= FAMILIES.keys()
