"""Places for a text: each sign leads to its file, and the line inside it is the one that is meant."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from skillstill.facts.locate.history import SWEEPING
from skillstill.facts.locate.memory import MemoryCorpus
from skillstill.facts.locate.passages import LONGEST
from skillstill.facts.locate.places import Locator, Place
from skillstill.facts.locate.question import LONGEST as CHARACTERS

SHOP = {
    "shop/cart.py": '"""Baskets."""\n\n\nclass Cart:\n    def add_item(self, item):\n        self.items.append(item)\n',
    "shop/prices.py": "def round_up(amount):\n    return amount\n\n\ndef apply_discount(total, percent):\n"
    "    return total - total * percent / 100\n",
    "shop/mail/sender.py": "def send(message):\n    raise TimeoutError('mail server is silent')\n",
    "shop/web/sender.py": "def send(page):\n    return page\n",
    "shop/web/client/retry_policy.py": "class Backoff:\n    wait = 3\n",
    "tests/test_prices.py": "def test_apply_discount():\n    assert apply_discount(100, 10) == 90\n",
    "docs/prices.md": "apply_discount takes a percent off the total\n",
}


Commits = Sequence[tuple[str, Sequence[str]]]


def places(text: str, texts: Mapping[str, str] = SHOP, commits: Commits = ()) -> list[Place]:
    return [*Locator(MemoryCorpus(texts, commits)).places(text, 5)]


def first(text: str, texts: Mapping[str, str] = SHOP, commits: Commits = ()) -> tuple[str, int]:
    best = places(text, texts, commits)[0]
    return best.path, best.line


# Words of the report that no file has. Three commits of several files keep them from being in all.
OTHERS: Commits = [("Bump versions", [*SHOP]), ("Tidy", ["shop/cart.py", "shop/prices.py"]), ("Begin", [*SHOP])]


@pytest.mark.parametrize(
    "commits",
    [
        [("Refund vouchers of abandoned orders", ["shop/web/sender.py"]), *OTHERS],
        [("Mend it\n\nVouchers were not refunded for abandoned orders.", ["shop/web/sender.py"]), *OTHERS],
    ],
)
def test_a_file_that_was_changed_for_the_same_words_is_found(commits: Commits) -> None:
    text = "Vouchers of abandoned orders are refunded twice"
    assert places(text) == []
    assert first(text, commits=commits)[0] == "shop/web/sender.py"


def test_the_file_that_was_changed_lately_comes_first_of_two_alike() -> None:
    commits = [("Tidy", ["shop/web/sender.py"]), *[("Tidy", ["shop/cart.py"])] * 9, ("Begin", ["shop/mail/sender.py"])]
    assert first("sender", commits=commits)[0] == "shop/web/sender.py"
    assert first("sender", commits=[*reversed(commits)])[0] == "shop/mail/sender.py"


def test_what_was_changed_lately_is_no_answer_to_other_words() -> None:
    assert places("zzzz", commits=[("Tidy", ["shop/cart.py"])]) == []


def test_a_commit_that_swept_through_many_files_tells_nothing() -> None:
    swept = [f"shop/part{at}.py" for at in range(SWEEPING)]
    assert places("vouchers", commits=[("Vouchers", ["shop/cart.py", *swept])]) == places("vouchers")


def test_commits_of_files_that_are_gone_tell_nothing() -> None:
    assert places("vouchers", commits=[("Vouchers", ["shop/gone.py"]), ("", [])]) == []


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("apply_discount gives a negative total", "shop/prices.py", 5),
        ("`Cart.add_item` loses things", "shop/cart.py", 5),
        ("the silent server of our mail is never told to anybody", "shop/mail/sender.py", 2),
        ("RetryPolicy is ignored", "shop/web/client/retry_policy.py", 1),
        ("wrong since yesterday, see shop/web/sender.py", "shop/web/sender.py", 1),
        ("see https://example.org/blob/main/shop/prices.py#L6 please", "shop/prices.py", 6),
    ],
)
def test_what_a_text_names_leads_to_the_line(text: str, path: str, line: int) -> None:
    assert first(text) == (path, line)


def test_the_innermost_frame_of_a_traceback_comes_first() -> None:
    trace = (
        "It fails\nTraceback (most recent call last):\n"
        '  File "/home/me/shop/web/sender.py", line 2, in send\n    return page\n'
        '  File "/home/me/shop/mail/sender.py", line 2, in send\n    return mail\n'
        '  File "/usr/lib/python3/decimal.py", line 90, in quantize\nTypeError: no\n'
    )
    assert first(trace) == ("shop/mail/sender.py", 2)


def test_frames_of_java_begin_with_the_innermost() -> None:
    texts = {
        "src/org/shop/Cart.java": "class Cart {\n  void add() {\n    throw null;\n  }\n}\n",
        "src/org/shop/Total.java": "class Total {\n  int sum() {\n    throw null;\n  }\n}\n",
    }
    trace = "Broken\n\tat org.shop.Total.sum(Total.java:3)\n\tat org.shop.Cart.add(Cart.java:3)\n"
    assert first(trace, texts) == ("src/org/shop/Total.java", 3)


def test_the_path_with_more_in_common_is_meant() -> None:
    assert first("look at mail/sender.py")[0] == "shop/mail/sender.py"


def test_tests_and_documents_follow_unless_they_are_asked_for() -> None:
    assert first("apply_discount gives a negative total")[0] == "shop/prices.py"
    assert first("flaky tests: test_apply_discount in tests/test_prices.py")[0] == "tests/test_prices.py"
    assert first("typo in the docs about the percent off the total, docs/prices.md")[0] == "docs/prices.md"


def test_places_of_a_report_lie_in_several_files() -> None:
    found = places("Discount is wrong\n\nThe total of the cart, the discount and the message that we send are wrong.")
    assert len({place.path for place in found[:3]}) == 3


def test_a_place_tells_its_definition_and_where_it_ends() -> None:
    best = places("apply_discount gives a negative total")[0]
    assert (best.name, best.line, best.last) == ("apply_discount", 5, 6)


def test_a_definition_is_shown_with_the_comment_above_it() -> None:
    text = "first = 1\n\n# How long a courier\n# may take.\ndef slowest():\n    return 30\n\nlast = 2\n"
    best = places("how long may the courier take?", {"a.py": text})[0]
    assert (best.name, best.first, best.last) == ("slowest", 3, 6)


def test_what_one_reads_at_once_is_one_place() -> None:
    near = "def courier_name():\n    ...\n\n\ndef courier_address():\n    ...\n"
    far = near.replace("name", "van") + "\n" * 70 + near.replace("name", "wage")
    assert [(place.first, place.last) for place in places("courier", {"a.py": near})] == [(1, 6)]
    assert len({place.first for place in places("courier", {"a.py": far})}) == 2


def test_no_place_is_longer_than_one_looks_through() -> None:
    long = "def deliver():\n" + "    courier = van\n" * 500
    assert all(place.last - place.first < LONGEST for place in places("which courier?", {"a.py": long}))


def test_words_by_which_people_ask_are_not_looked_for() -> None:
    texts = {"a.py": "def courier():\n    ...\n", "b.py": "# Please tell somebody, I just wonder.\nplease = 1\n"}
    assert first("could somebody please just tell me about the courier", texts)[0] == "a.py"


def test_files_without_definitions_have_windows() -> None:
    lines = ["nothing = 1"] * 200
    lines[150] = "message = 'gearbox exploded'"
    path, line = first("when the gearbox has exploded", {"a.rb": "\n".join(lines), "b.rb": "other = 2"})
    assert (path, line) == ("a.rb", 151)


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "the of and", "\0\ud800".encode("utf-8", "replace").decode(), "(" * 9_000, "a." * 9_000, "`" * 9_000],
)
def test_any_text_has_an_answer(text: str) -> None:
    assert len(places(text)) <= 5


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    assert first("apply_discount " + "x " * CHARACTERS + "Cart.add_item " * 50)[0] == "shop/prices.py"


def test_an_empty_code_base_has_no_places() -> None:
    assert places("anything", {}) == []
    assert places("anything", {"empty.py": ""}) == []


def test_a_folder_is_read_without_hidden_and_binary_files(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config.py").write_text("def hidden(): ...")
    (tmp_path / "a.py").write_text("def shown(): ...")
    (tmp_path / "b.py").write_bytes(b"\0\1")
    assert [file.path for file in MemoryCorpus.of_folder(tmp_path).files] == ["a.py"]
