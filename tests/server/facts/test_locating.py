"""Places for any text, found through the index of a folder."""

import gzip
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from skillstill.errors import Refusal
from skillstill.facts.index import FactIndex
from skillstill.facts.locate.places import Place
from skillstill.facts.readers import BUNDLED, WORDS

from tests.scenes import write
from tests.server.facts.git_scene import GitScene

CART = "class Cart:\n    def total(self):\n        '''Add the prices of all items.'''\n        return sum(self.items)\n"
MAIL = "def send_invoice(address):\n    '''Mail an invoice to a customer.'''\n    connect(address)\n"
TEST = "from shop.cart import Cart\n\ndef test_total():\n    assert Cart().total() == 0\n"


class Shop:
    def __init__(self, root: Path, *readers: str) -> None:
        self.root = write(root, {"shop/cart.py": CART, "shop/mail.py": MAIL, "tests/test_cart.py": TEST})
        self.index = FactIndex(root, readers, processes=1)
        self.refresh()

    def refresh(self) -> None:
        self.index.refresh(sorted(file.relative_to(self.root).as_posix() for file in self.root.rglob("*.py")))

    def first(self, text: str) -> tuple[str, int]:
        place = self.index.locate(text)[0]
        return place.path, place.line


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    shop = Shop(tmp_path, BUNDLED["code"], WORDS)
    yield shop
    shop.index.close()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Where is the total of a cart computed?", ("shop/cart.py", 2)),
        ("send_invoice fails for some addresses", ("shop/mail.py", 1)),
        ('Traceback:\n  File "/srv/shop/mail.py", line 3, in send_invoice\nConnectionError', ("shop/mail.py", 3)),
    ],
)
def test_a_text_leads_to_what_it_names_or_describes(shop: Shop, text: str, place: tuple[str, int]) -> None:
    assert shop.first(text) == place


def test_tests_follow_unless_they_are_asked_for(shop: Shop) -> None:
    assert shop.first("total of the cart")[0] == "shop/cart.py"
    assert shop.first("the failing test of the total")[0] == "tests/test_cart.py"


def test_a_change_is_seen_by_the_next_question(shop: Shop) -> None:
    write(shop.root, {"shop/refund.py": "def refund(order):\n    return order.total\n"})
    shop.refresh()
    assert shop.first("refund an order") == ("shop/refund.py", 1)
    (shop.root / "shop/refund.py").unlink()
    shop.refresh()
    assert "shop/refund.py" not in {place.path for place in shop.index.locate("refund an order")}


def test_words_that_no_file_has_lead_nowhere(shop: Shop) -> None:
    assert not shop.index.locate("zzzz qqqq")


def test_words_alone_are_enough(tmp_path: Path) -> None:
    shop = Shop(tmp_path, WORDS)
    assert shop.first("invoice to a customer")[0] == "shop/mail.py"
    shop.index.close()


def test_the_history_of_a_repository_tells_where_words_belong_that_no_file_has(tmp_path: Path) -> None:
    scene = GitScene(tmp_path)
    begun = scene.commit({"shop/cart.py": CART.encode(), "shop/mail.py": b""}, "Begin")
    scene.commit({"shop/cart.py": CART.encode(), "shop/mail.py": MAIL.encode()}, "Vouchers by letter", begun)
    shop = Shop(tmp_path, BUNDLED["history"], WORDS)
    assert shop.first("vouchers are lost")[0] == "shop/mail.py"
    shop.index.close()


def test_the_packed_words_are_no_table_of_a_query(shop: Shop) -> None:
    with pytest.raises(Refusal, match="no such table"):
        shop.index.ask("select * from file_words")


def test_a_question_is_shown_the_line_that_holds_the_value(tmp_path: Path) -> None:
    write(tmp_path, {"pool.py": f"{CART}\n\nDEFAULT_POOL_SIZE = 10\n", "app.toml": "[server]\nport = 8080\n"})
    index = FactIndex(tmp_path, (BUNDLED["code"], BUNDLED["config"], WORDS), processes=1)
    index.refresh(["app.toml", "pool.py"])
    assert index.locate("default max pool size?")[0].text == "DEFAULT_POOL_SIZE = 10"
    assert index.locate("which port does the server use?")[0].text == "port = 8080"
    index.close()


def test_beside_the_best_line_of_each_place_others_are_shown_that_hold_what_is_asked_for(tmp_path: Path) -> None:
    settings = (
        "# how long we wait for the database\nDATABASE = connect()\nTIMEOUT = 30\n\n\ndef wait(database):\n    pass\n"
    )
    write(tmp_path, {"settings.py": settings})
    index = FactIndex(tmp_path, (BUNDLED["code"], WORDS), processes=1)
    index.refresh(["settings.py"])
    shown = [text for place in index.locate("how long do we wait for the database?") for _, text in place.more]
    index.close()
    assert "TIMEOUT = 30" in shown
    assert not {"", ")"} & {*shown}


LOG = "".join(
    f"2024-01-01 10:00:{second:02} ERROR db: connection refused from 10.0.0.{second}\n" for second in range(1, 9)
)


def test_a_log_shows_one_entry_of_each_sort_and_how_many_there_are(tmp_path: Path) -> None:
    write(tmp_path, {"app.log": LOG + "2024-01-01 10:01:00 INFO db: ready\n"})
    index = FactIndex(tmp_path, (BUNDLED["logs"], WORDS), processes=1)
    index.refresh(["app.log"])
    refused = [place for place in index.locate("why was the connection refused?") if "refused" in place.text]
    assert [(place.line, place.alike.times) for place in refused] == [(1, 8)]
    assert index.locate("connection refused from 10.0.0.5")[0].line == 5
    index.close()


def located(root: Path, name: str, text: str) -> Place:
    index = FactIndex(root, (BUNDLED["logs"], WORDS), processes=1)
    index.refresh([name])
    best = index.locate(text)[0]
    index.close()
    return best


def test_a_packed_log_is_read_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "app.log.gz").write_bytes(gzip.compress(LOG.encode()))
    assert "from 10.0.0.5" in located(tmp_path, "app.log.gz", "connection refused from 10.0.0.5").text


@pytest.mark.parametrize("kept", [lambda text: gzip.compress(text.encode()), lambda text: text.encode("utf-16")])
def test_a_log_that_is_packed_or_of_wide_letters_is_found_by_its_words(
    tmp_path: Path, kept: Callable[[str], bytes]
) -> None:
    idle = "".join(f"2026-03-01 10:{minute:02}:00 INFO api: order {minute} accepted\n" for minute in range(50))
    (tmp_path / "app.log.gz").write_bytes(kept(f"{idle}2026-03-01 10:59:00 INFO api: shop closed by Ada\n"))
    assert located(tmp_path, "app.log.gz", "who closed the shop?").text.endswith("shop closed by Ada")


def test_a_log_of_megabytes_is_found_by_its_words_to_its_end(tmp_path: Path) -> None:
    idle = "".join(f"2026-03-01 10:00:00 INFO api: order {number} accepted\n" for number in range(30_000))
    best = located(
        write(tmp_path, {"app.log": f"{idle}2026-03-01 10:59:00 INFO api: shop closed by Ada\n"}),
        "app.log",
        "who closed the shop?",
    )
    assert (best.line, best.text[-6:]) == (30_001, "by Ada")


DAYS = "".join(
    f"2024-01-{day:02} {hour:02}:30:00 INFO db: checkpoint {day} {hour}\n" for day in range(1, 20) for hour in range(24)
)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("what happened on 7 January?", "2024-01-07"),
        ("checkpoint on the 7th at 13:30", "2024-01-07 13:30"),
        ("which checkpoint came last?", "2024-01-19 23:30"),
        ("the first checkpoint", "2024-01-01 00:30"),
    ],
)
def test_a_time_that_a_text_names_leads_to_the_entries_of_then(tmp_path: Path, text: str, moment: str) -> None:
    best = located(write(tmp_path, {"app.log": DAYS}), "app.log", text)
    assert any(line.startswith(moment) for line in DAYS.split("\n")[best.first - 1 : best.last])


def test_tables_are_found_by_their_columns(tmp_path: Path) -> None:
    write(tmp_path, {"shop.csv": "customer,price\nAnn,3\nBob,4\n"})
    index = FactIndex(tmp_path, (BUNDLED["data"], WORDS), processes=1)
    index.refresh(["shop.csv"])
    assert "shop.price" in [place.name for place in index.locate("highest price")]
    assert any(place.text.startswith("2 rows, 2 columns") for place in index.locate("the shop table"))
    index.close()


def test_a_column_of_which_nothing_is_known_is_found_by_its_name(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as shop:
        shop.execute("create table orders (id integer, remarks)")
    index = FactIndex(tmp_path, (BUNDLED["data"], WORDS), processes=1)
    index.refresh(["shop.db"])
    assert index.locate("remarks")[0].name == "orders.remarks"
    index.close()
