"""Words of files: which parts they stand in, and that packing keeps them."""

import io

from hypothesis import given
from hypothesis import strategies as st
from skillstill.facts.locate.postings import Counts, Postings, key_of, pack
from skillstill.facts.locate.stems import stems_of
from skillstill.facts.reader import Source
from skillstill.facts.readers.words import LARGEST, PART, WORDS, count_words

WORDS_OF_FILE = st.dictionaries(st.text("abcdefgh", min_size=1, max_size=6), st.integers(1, 40), max_size=60)


def read(name: str, data: bytes) -> tuple[str, list[str]]:
    facts = [*WORDS.read(Source(name, len(data), io.BytesIO(data)))]
    parts = [str(row[2]) for each in facts for row in each.rows.get("file_words", ())]
    return "".join(parts), [gap.reason for each in facts for gap in each.gaps]


def test_names_fall_into_the_same_words_however_they_are_written() -> None:
    assert stems_of("maxRetries") == stems_of("max_retries") == stems_of("MAX_RETRIES")


def test_words_are_counted_by_part() -> None:
    counts = count_words("a.py", "# cheap\ndef price(net):\n    '''Cheap.'''\n    return net * 'net'\n")
    assert counts["cheap"] == Counts(names=0, comments=2, code=0)
    assert counts["pric"] == Counts(names=1, comments=0, code=1)
    assert counts["net"].code == 3


def test_a_comment_sign_in_a_string_begins_no_comment() -> None:
    assert count_words("a.js", "let url = 'http://host'; // later")["host"].code == 1
    assert count_words("a.js", "let url = 'http://host'; // later")["lat"].comments == 1


def test_methods_of_many_languages_are_names() -> None:
    assert count_words("A.java", "  public int total(Cart cart) {\n")["total"].names == 1
    assert count_words("a.go", "func (c *Cart) Total() int {\n")["total"].names == 1
    assert count_words("a.rs", "    pub fn total(&self) -> u8 {\n")["total"].names == 1
    assert "if" not in count_words("a.c", "  if (x) {\n") or not count_words("a.c", "  if (x) {\n")["if"].names


@given(st.lists(WORDS_OF_FILE, max_size=5))
def test_postings_find_each_word_in_its_files(files: list[dict[str, int]]) -> None:
    postings = Postings.of(pack({word: Counts(code=count) for word, count in words.items()}) for words in files)
    for word in {word for words in files for word in words}:
        found, names, bodies = postings.of_word(word)
        keys = [{key_of(each) for each in words} for words in files]
        assert found.tolist() == [at for at, each in enumerate(keys) if key_of(word) in each]
        assert not names.any()
        assert (bodies > 0).all()


def test_counts_are_kept_in_steps() -> None:
    postings = Postings.of([pack({"cart": Counts(names=1, code=1)}), pack({"cart": Counts(code=20, comments=3)})])
    files, names, bodies = postings.of_word("cart")
    assert files.tolist() == [0, 1]
    assert names.tolist() == [1.0, 0.0]
    assert bodies[0] < bodies[1]


def test_a_word_of_no_file_has_no_postings() -> None:
    assert Postings.of([]).of_word("cart")[0].size == 0
    assert Postings.of(["", pack({"other": Counts(code=1)})]).of_word("cart")[0].size == 0


def test_rows_are_parts_of_one_text() -> None:
    source = "\n".join(f"word{chr(97 + a)}{chr(97 + b)}x" for a in range(26) for b in range(26)).encode()
    packed, _ = read("a.py", source)
    found = WORDS.read(Source("a.py", len(source), io.BytesIO(source)))
    rows = [row for facts in found for row in facts.rows["file_words"]]
    assert len(rows) > 1
    assert all(len(str(row[2])) <= PART for row in rows)
    assert len(Postings.of([packed]).keys) > 600


def test_bad_input_gives_what_it_has() -> None:
    assert not WORDS.takes("a.bin", b"\0\1")
    assert read("empty.py", b"") == ("", [])
    assert read("a.py", b"caf\xe9 = 1 # \xff\n'unclosed")[0]
    assert read("min.js", b"x" * 5_000 + b"\nlet cart = 1")[0] == read("b.js", b"\nlet cart = 1")[0]
    assert read("nested.js", b"/*" * 50_000)[1] == []
    assert "are not kept" in read("big.py", b"a " * LARGEST)[1][0]


def test_words_take_few_bytes() -> None:
    words = [chr(97 + a) + chr(97 + b) + chr(97 + c) for a in range(6) for b in range(6) for c in range(6)]
    assert len(pack({word: Counts(code=1) for word in words})) < 3.5 * len(words)
