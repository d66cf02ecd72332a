"""Passages by number in an SQLite database: ranked by their words (FTS5, BM25) and by their meaning, then fused.

Reciprocal-rank fusion needs no scores that can be compared, so neither ranking has to be calibrated.
"""

import math
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skillstill.library.catalogue.embeddings import NAME, WIDTH, Encoder, Vectors
from skillstill.library.catalogue.passages import Passage, words

RRF = 60  # the constant of its inventors; the ranking hardly depends on it
DEPTH = 100  # of each ranking
# A name says what a thing is for, an example only one case of it.
WEIGHTS = "3.0, 1.0, 0.5, 1.0"
TABLES = """
create virtual table words using fts5(name, description, examples, labels, tokenize = 'porter unicode61');
create table vector (id integer primary key, encoder text not null, value blob not null);
"""


@dataclass(frozen=True, slots=True)
class Matrix:
    """The vectors of the passages `ids`, row by row; each has as many rows as the other."""

    ids: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    rows: Vectors = field(default_factory=lambda: np.zeros((0, WIDTH), np.float32))

    def ranked(self, question: Vectors) -> list[int]:
        """Return the nearest DEPTH, the nearest first."""
        near = self.rows @ question
        first = np.argpartition(-near, DEPTH)[:DEPTH] if len(near) > DEPTH else np.arange(len(near))
        return [int(number) for number in self.ids[first[np.argsort(-near[first], kind="stable")]]]

    def of(self, ids: Sequence[int]) -> Vectors:
        """Return the rows of these passages; zeros for one that has none."""
        at = np.searchsorted(self.ids, ids)
        known = np.zeros(len(ids), bool) if not len(self.ids) else self.ids[np.minimum(at, len(self.ids) - 1)] == ids
        rows = np.zeros((len(ids), WIDTH), np.float32)
        rows[known] = self.rows[at[known]]
        return rows


def put(database: sqlite3.Connection, passages: Sequence[tuple[int, Passage]], encoder: Encoder | None) -> None:
    """Write these into the index, in place of what had their numbers."""
    drop(database, [number for number, _ in passages])
    rows = ((number, one.name, one.description, one.examples, one.labels) for number, one in passages)
    database.executemany("insert into words (rowid, name, description, examples, labels) values (?, ?, ?, ?, ?)", rows)
    if encoder:
        vectors = encoder([one.meaning for _, one in passages]).astype(np.float16)
        values = ((number, NAME, row.tobytes()) for (number, _), row in zip(passages, vectors, strict=True))
        database.executemany("insert into vector values (?, ?, ?)", values)


def drop(database: sqlite3.Connection, numbers: Iterable[int]) -> None:
    ids = [(number,) for number in numbers]
    database.executemany("delete from words where rowid = ?", ids)
    database.executemany("delete from vector where id = ?", ids)


def without_vector(database: sqlite3.Connection) -> list[tuple[int, Passage]]:
    """Return what was indexed while there was no encoder, or another one."""
    sql = (
        "select rowid, name, description, examples, labels from words"
        " where rowid not in (select id from vector where encoder = ?)"
    )
    return [(number, Passage(*columns)) for number, *columns in database.execute(sql, (NAME,))]


def matrix(database: sqlite3.Connection) -> Matrix:
    rows = database.execute("select id, value from vector where encoder = ? order by id", (NAME,)).fetchall()
    values = np.frombuffer(b"".join(value for _, value in rows), np.float16)
    return Matrix(np.array([number for number, _ in rows], np.int64), values.reshape(-1, WIDTH).astype(np.float32))


def by_words(database: sqlite3.Connection, question: str) -> list[int]:
    """Return the DEPTH passages that share most of the question's words, counted by how rare they are."""
    match = " OR ".join(f'"{word}"' for word in words(question))
    sql = f"select rowid from words where words match ? order by bm25(words, {WEIGHTS}) limit {DEPTH}"  # noqa: S608
    return [number for (number,) in database.execute(sql, (match,))] if match else []


def shared_words(database: sqlite3.Connection, question: str, numbers: Sequence[int]) -> dict[int, list[str]]:
    """Return which of the question's words each of these passages has, in any of their forms."""
    found: dict[int, list[str]] = {number: [] for number in numbers}
    places = ", ".join("?" * len(numbers))
    sql = f"select rowid from words where words match ? and rowid in ({places})"  # noqa: S608 - question marks only
    for word in words(question):
        for (number,) in database.execute(sql, (f'"{word}"', *numbers)):
            found[number].append(word)
    return found


def word_weights(database: sqlite3.Connection, question: str) -> dict[str, float]:
    """Return how much each word of the question tells: more if few passages have it, nothing if none has it.

    A word that no passage has cannot speak for one of them, nor against it.
    """
    (total,) = database.execute("select count(*) from words").fetchone()
    sql = "select count(*) from words where words match ?"
    counts = {word: int(database.execute(sql, (f'"{word}"',)).fetchone()[0]) for word in words(question)}
    return {word: math.log(1 + total / count) if count else 0.0 for word, count in counts.items()}


def fuse(*rankings: Sequence[int]) -> list[int]:
    """Return one ranking of all: who stands near the top of several stands above who tops one."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, number in enumerate(ranking, 1):
            scores[number] = scores.get(number, 0.0) + 1 / (RRF + rank)
    return sorted(scores, key=lambda number: -scores[number])
