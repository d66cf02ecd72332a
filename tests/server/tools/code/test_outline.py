"""outline: a file's symbols, or where an exact name is defined."""

import re
from pathlib import Path

import pytest
from skillstill.errors import Refusal
from skillstill.tools import TOOLS, Result
from skillstill.workspace import Workspace

from tests.scenes import write

pytestmark = pytest.mark.anyio


async def outline(root: Path, target: str, **of: str) -> Result:
    return await TOOLS["outline"].call(Workspace(root), {"target": target, **of})


async def lines(root: Path, target: str, **of: str) -> list[str]:
    return (await outline(root, target, **of)).text.split("\n")


async def refused(root: Path, target: str) -> str:
    with pytest.raises(Refusal) as caught:
        await outline(root, target)
    return str(caught.value)


async def test_a_name_that_is_defined_once_is_told_with_signature_raised_exceptions_and_members(shop: Path) -> None:
    assert await lines(shop, "CardGateway.charge") == [
        "shop/payments.py:32: CardGateway.charge: def charge(self, cents: int) -> str (to line 41)",
        "shop/payments.py:35: raises ValueError; 39: PaymentDeclined",
    ]
    assert await lines(shop, "MemberDiscount") == [
        "shop/pricing.py:26: class MemberDiscount(PercentDiscount) (to line 30)",
        "  __init__:29",
    ]


@pytest.mark.parametrize(
    "target", ["Cart.add", "Cart::add", "Cart#add", "Cart.add()", ".Cart.add", "cart.Cart.add", "shop.cart.Cart.add"]
)
async def test_a_method_is_known_under_the_ways_to_write_it(shop: Path, target: str) -> None:
    assert (await lines(shop, target))[0].startswith("shop/cart.py:23: Cart.add: def add(")


@pytest.mark.parametrize(
    ("file", "text", "name", "told"),
    [
        ("a.js", "class Count { #size() { return 1 } }\n", "Count.#size", "a.js:1: Count.#size: "),
        ("a.js", "class Count { #size() { return 1 } }\n", "#size", "a.js:1: Count.#size: "),
        ("a.rs", "pub fn r#type(x: u8) {}\n", "r#type", "a.rs:1: pub fn r#type(x: u8)"),
        ("a.py", "class Client:\n    def go(self): ...\n", "Client.go", "a.py:2: Client.go: def go(self)"),
    ],
)
async def test_a_name_may_hold_a_hash_or_end_like_a_file(
    file: str, text: str, name: str, told: str, tmp_path: Path
) -> None:
    write(tmp_path, {file: text})
    assert (await lines(tmp_path, name))[0].startswith(told)
    assert "no such path" in await refused(tmp_path, "Other.go")


async def test_a_module_tells_definitions_of_the_same_name_apart(shop: Path) -> None:
    assert (await lines(shop, "total"))[0] == "3 definitions of 'total'"
    assert (await lines(shop, "pricing.total"))[0].startswith("shop/pricing.py:33: def total(")
    assert (await lines(shop, "shop.cart.total"))[0].startswith("shop/cart.py:39: def total(")


async def test_a_package_is_known_by_its_folder(tmp_path: Path) -> None:
    write(tmp_path, {"package/__init__.py": "def load(): ...\n", "other.py": "def load(): ...\n"})
    assert await lines(tmp_path, "package.load") == ["package/__init__.py:1: def load()"]


async def test_an_unknown_owner_is_said_and_the_name_told(shop: Path) -> None:
    assert (await lines(shop, "Basket.add"))[0] == "1 definitions of 'add'; none of them is 'Basket.add'"


ZOO = """class Animal:
    def name(self): return "?"
    def feed(self): return 1

class Loud:
    def name(self): return "loud"
    def call(self, volume): return volume

class Dog(Animal, Loud):
    pass

class Puppy(Dog):
    def feed(self): return 2
"""
KEEPER = "def feed(animal, hour): return hour\n"


@pytest.mark.parametrize(
    ("target", "owner", "told"),
    [
        ("name", "Puppy", ["Puppy has name from Animal", "zoo/pets.py:2: Animal.name: def name(self)"]),
        ("Puppy.name", "", ["Puppy has name from Animal", "zoo/pets.py:2: Animal.name: def name(self)"]),
        ("call", "Puppy", ["Puppy has call from Loud", "zoo/pets.py:7: Loud.call: def call(self, volume)"]),
        ("feed", "Puppy", ["zoo/pets.py:13: Puppy.feed: def feed(self)"]),
        ("feed", "dog", ["dog has feed from Animal", "zoo/pets.py:3: Animal.feed: def feed(self)"]),
    ],
)
async def test_a_method_of_a_class_is_told_where_it_comes_from(
    target: str, owner: str, told: list[str], tmp_path: Path
) -> None:
    write(tmp_path, {"zoo/pets.py": ZOO, "zoo/keeper.py": KEEPER})
    assert await lines(tmp_path, target, of=owner) == told


@pytest.mark.parametrize(
    ("said", "first"),
    [
        ("in the keeper module", "zoo/keeper.py:1: def feed(animal, hour)"),
        ("that takes an hour", "zoo/keeper.py:1: def feed(animal, hour)"),
        ("of the Animal class", "zoo/pets.py:3: Animal.feed: def feed(self)"),
        ("which belongs to Puppy", "zoo/pets.py:13: Puppy.feed: def feed(self)"),
    ],
)
async def test_of_namesakes_the_one_that_the_words_fit_comes_first(said: str, first: str, tmp_path: Path) -> None:
    write(tmp_path, {"zoo/pets.py": ZOO, "zoo/keeper.py": KEEPER})
    told = await lines(tmp_path, "feed", of=said)
    assert told[:2] == [f"3 definitions of 'feed'; the likeliest by {said!r} first", first]
    assert len(told) == 4


async def test_words_that_fit_no_namesake_are_said_to_fit_none(tmp_path: Path) -> None:
    write(tmp_path, {"zoo/pets.py": ZOO, "zoo/keeper.py": KEEPER})
    assert (await lines(tmp_path, "feed", of="of the bank"))[0] == "3 definitions of 'feed'; none by 'of the bank'"


async def test_a_lone_definition_that_the_words_do_not_fit_is_said_to_be_none_by_them(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "class Client:\n    def start(self): pass\n\nclass Server: pass\n"})
    assert (await lines(tmp_path, "start", of="Server"))[0] == "1 definitions of 'start'; none by 'Server'"
    assert (await lines(tmp_path, "start", of="Client"))[0].startswith("a.py:2: Client.start")


@pytest.mark.parametrize("said", ["class Dog", "Dog()", "`Dog`", "pets::Dog", "zoo.pets.Dog", "dog"])
async def test_a_class_is_known_under_the_ways_to_say_it(said: str, tmp_path: Path) -> None:
    write(tmp_path, {"zoo/pets.py": ZOO, "zoo/keeper.py": KEEPER + "dog = 1\n"})
    told = await lines(tmp_path, "feed", of=said)
    assert told[0].endswith(" has feed from Animal")
    assert told[1].startswith("zoo/pets.py:3: Animal.feed")


DIAMOND = (
    "class A:\n    def f(self): ...\n\nclass B(A): ...\n\nclass C(A):\n    def f(self): ...\n\nclass D(B, C): ...\n"
)
BASE = "class Base:\n    def feed(self): pass\n"
TWINS = {
    "one.py": BASE,
    "two.py": BASE,
    "dog.py": "class Other:\n    def feed(self): 1\n\nclass Dog(Base, Other): ...\n",
}
TWO = "2 definitions of 'close'"
FOREIGN = {"a.ts": "export class Client { send() {} }\n", "b.py": "class My(httpx.Client): pass\n\ndef send(): pass\n"}
SESSION = "class Session:\n    def close(self): ...\n\nclass Pool:\n    def close(self): ...\n"
IMPORTED = "from {} import Session\n\nclass Api(Session): ...\n"
RING = {"ring.py": "class A(B): pass\n\nclass B(A): pass\n\ndef start(): return 1\n"}


@pytest.mark.parametrize(
    ("files", "name", "owner", "head"),
    [
        ({"d.py": DIAMOND}, "f", "D", "D has f from C"),
        (TWINS, "feed", "Dog", "3 definitions of 'feed'; the likeliest by 'Dog' first"),
        (FOREIGN, "send", "My", "2 definitions of 'send'; none by 'My'"),
        (RING, "start", "A", "1 definitions of 'start'; none by 'A'"),
        ({"app/db.py": SESSION, "app/web.py": IMPORTED.format("requests")}, "close", "Api", f"{TWO}; none by 'Api'"),
        ({"app/db.py": SESSION, "app/web.py": IMPORTED.format("app.db")}, "close", "Api", "Api has close from Session"),
        ({"app/db.py": SESSION, "app/web.py": IMPORTED.format(".db")}, "close", "Api", "Api has close from Session"),
    ],
    ids=["a diamond", "bases of one name", "a base from elsewhere", "a ring", "imported", "ours", "ours nearby"],
)
async def test_what_a_class_has_is_told_as_far_as_it_is_certain(
    files: dict[str, str], name: str, owner: str, head: str, tmp_path: Path
) -> None:
    write(tmp_path, files)
    assert (await lines(tmp_path, name, of=owner))[0] == head


async def test_methods_of_a_go_type_may_stand_in_another_file_of_its_folder(tmp_path: Path) -> None:
    types = "package a\n\ntype Base struct{}\n\nfunc (b *Base) Start() {}\n\ntype Server struct {\n\tBase\n}\n"
    write(tmp_path, {"a/types.go": types, "a/server.go": "package a\n\nfunc (s *Server) Start() {}\n"})
    assert (await lines(tmp_path, "Start", of="Server"))[0].startswith("a/server.go:3: Server.Start")


async def test_overloads_are_all_told(tmp_path: Path) -> None:
    write(tmp_path, {"Box.java": "class Box {\n  void put(int a) {}\n  void put(String a) {}\n}\n"})
    assert len(await lines(tmp_path, "put", of="Box")) == 2


async def test_many_exceptions_take_several_lines_and_each_is_shown(tmp_path: Path) -> None:
    body = "".join(f"    if x == {n}: raise VeryLongNameOfAnError{n}\n" for n in range(30))
    write(tmp_path, {"a.py": f"def check(x):\n{body}"})
    result = await outline(tmp_path, "check")
    assert {span.first for span in result.spans} == {*range(1, 32)}
    assert all(f"VeryLongNameOfAnError{n}" in result.text for n in range(30))


async def test_the_exact_case_hides_other_cases(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "class Timer: ...\ntimer = 1\n"})
    assert await lines(tmp_path, "Timer") == ["a.py:1: class Timer"]
    assert (await lines(tmp_path, "TIMER"))[0] == "2 definitions of 'TIMER'; in other case"


@pytest.mark.parametrize(
    "said", ["memberdiscount", "member discount", "member-discount", "MEMBER_DISCOUNT", "class Member Discount"]
)
async def test_a_name_is_found_as_people_say_it(shop: Path, said: str) -> None:
    shown = await lines(shop, said)
    assert shown[0].startswith("1 definitions of ")
    assert shown[0].endswith(("; in other case", "; in another spelling"))
    assert shown[1] == "shop/pricing.py:26: class MemberDiscount(PercentDiscount) (to line 30)"


async def test_another_spelling_counts_only_where_the_name_itself_is_nowhere(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "class BackOff: ...\ndef back_off(): ...\n"})
    assert await lines(tmp_path, "BackOff") == ["a.py:1: class BackOff"]
    assert (await lines(tmp_path, "back off"))[0] == "2 definitions of 'back off'; in another spelling"


async def test_the_word_for_its_kind_may_stand_before_a_name(shop: Path) -> None:
    assert await lines(shop, "class MemberDiscount") == await lines(shop, "MemberDiscount")


async def test_a_name_without_definition_tells_where_the_word_stands(shop: Path) -> None:
    assert await lines(shop, "dataclass") == [
        "no definition of 'dataclass' in any spelling; the word stands in 1 files: use search"
    ]
    assert await lines(shop, "coupon") == ["no definition of 'coupon' in any spelling"]


async def test_a_name_in_a_language_that_is_not_parsed_may_be_defined_there(tmp_path: Path) -> None:
    write(tmp_path, {"queue.c": "int queue_push(int value) { return value; }\n", "notes.md": "queue_push, queue_pop\n"})
    missed = [(await outline(tmp_path, name)).missed for name in ("queue_push", "queue_pop")]
    assert missed == [
        "the word stands in queue.c, whose language is not parsed here",
        "the word stands in notes.md",
    ]


async def test_many_definitions_are_counted(tmp_path: Path) -> None:
    write(tmp_path, {f"m{n:02}.py": "def run(): ...\n" for n in range(20)})
    shown = await lines(tmp_path, "run")
    assert shown[0] == "20 definitions of 'run'"
    assert shown[-1] == "… 14 more: name one as Class.method"


async def test_a_file_is_told_in_full_then_by_members_then_by_outermost_names(tmp_path: Path) -> None:
    method = "    def method{0}(self, argument: int) -> int:\n        raise KeyError\n"
    small = "class A:\n" + method.format(0)
    write(tmp_path, {"full.py": small, "members.py": "class A:\n" + "".join(map(method.format, range(20)))})
    write(tmp_path, {"names.py": "".join(f"class A{n}:\n{method.format(0)}" for n in range(60))})
    assert await lines(tmp_path, "full.py") == [
        "full.py: 3 lines, 2 symbols",
        "1: class A",
        "2:   def method0(self, argument: int) -> int",
        "3:     raises KeyError",
    ]
    members = await lines(tmp_path, "members.py")
    assert members[:2] == ["members.py: 41 lines, 21 symbols; members by name", "1: class A"]
    assert members[2].startswith("  method0:2 method1:4 ")
    names = await lines(tmp_path, "names.py")
    assert names[0] == "names.py: 180 lines, 120 symbols; outermost names, outline one for more"
    assert names[1].startswith("A0:1 A1:4 ")
    assert names[-1] == "… 20 more from line 121 on: use search with this path"


async def test_every_place_stands_in_the_text(shop: Path) -> None:
    targets = ["Cart", "total", "Cart.add", "shop/payments.py", "stock.go", "lib.rs", "Invoice.java", "checkout.ts"]
    for target in targets:
        result = await outline(shop, target)
        assert result == await outline(shop, target)
        for span in (span for span in result.spans if span.first):
            assert re.search(rf"(^|[\w:]|; ){span.first}(:| |$)", result.text, re.MULTILINE), (target, span)
            assert (shop / span.path).is_file()


async def test_a_file_may_be_named_by_its_ending(shop: Path) -> None:
    assert (await lines(shop, "payments.py"))[0].startswith("shop/payments.py: 57 lines")


async def test_what_has_no_outline_is_answered_with_what_to_use(shop: Path) -> None:
    assert "use read" in await refused(shop, "docs/guide.md")
    assert "use read" in await refused(shop, "shop.toml")
    assert "use list" in await refused(shop, "services")
    assert "use list" in await refused(shop, "services/stock")
    assert "there is shop/cart.py" in await refused(shop, "lib/cart.py")


@pytest.mark.parametrize("target", ["..", ".", "::", "#", " ", "a\nb", "()"])
async def test_a_target_that_names_nothing_is_refused(shop: Path, target: str) -> None:
    assert "neither a file nor a name" in await refused(shop, target)


@pytest.mark.parametrize("target", ["--files", "-e", "--pre=sh", "$(id)", "*", "[", "\\", "é", "x" * 160])
async def test_odd_names_are_only_names(shop: Path, target: str) -> None:
    assert (await lines(shop, target))[0].startswith("no definition of ")


async def test_ignored_secret_binary_and_large_files_define_nothing(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "made/\n", "made/a.py": "def load(): ...\n", "id_rsa.py": "def load(): ...\n"})
    (tmp_path / "binary.py").write_bytes(b"def load(): ...\n\0")
    (tmp_path / "large.py").write_bytes(b"def load(): ...\n" + b"#" * 5_000_000)
    assert (await lines(tmp_path, "load"))[0].startswith("no definition of 'load'")


async def test_lines_are_those_of_read_in_odd_files(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_bytes(b"\xef\xbb\xbfa = 1\r\n# \x0c \xe2\x80\xa8\r\ndef caf\xc3\xa9(): ...\r\n")
    (tmp_path / "latin.py").write_bytes(b"# caf\xe9\ndef latin(): ...\n")
    (tmp_path / "empty.py").write_bytes(b"")
    assert (await lines(tmp_path, "odd.py"))[1:] == ["1: a = 1", "3: def café()"]
    assert await lines(tmp_path, "latin") == ["latin.py:2: def latin()"]
    assert await lines(tmp_path, "empty.py") == ["empty.py: 0 lines, 0 symbols"]
