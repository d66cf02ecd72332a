"""A question to a catalogue: its definitions by words and by meaning, those that are much the same shown once."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skillstill.library.catalogue import Catalogue, database, index, unpack_definition
from skillstill.library.catalogue.embeddings import WIDTH, Vectors, encoder
from skillstill.library.definition import Definition

ALIKE = 0.95  # cosine; two versions of one text lie above it, two texts of one name below
# Cosine of a question and a text. Of 532 users' sentences 86 % lie above to the agent they were said to, 31 % to any
# other; of short phrases 71 % and 8 %. Enough for one that ranks high, too little to put it before all others.
NEAR = 0.2


@dataclass(frozen=True, slots=True)
class Shared:
    """What a passage shares with a question: words, and its cosine to it."""

    words: tuple[str, ...]
    nearness: float

    @property
    def why(self) -> str:
        """Return the reason in words for a person."""
        words = f"has {', '.join(self.words)}" if self.words else ""
        return "; ".join(filter(None, [words, "near in meaning" if self.nearness > NEAR else ""]))


@dataclass(frozen=True, slots=True)
class DefinitionHit:
    """A definition, how many others are much the same, and why it was found."""

    definition: Definition
    variants: int
    shared: Shared


def search(catalogue: Catalogue, question: str, limit: int) -> list[DefinitionHit]:
    """Return the best `limit`, the best first. Raise LibraryError."""
    if not catalogue.exists:
        return []
    matrix = catalogue.matrix()
    with database.reading(catalogue.file) as connection:
        groups = _groups(connection, rank(connection, matrix, question), matrix, limit)
        shown = [_preferred_one(connection, group) for group in groups]
        return [
            DefinitionHit(_definition(connection, number), len(group) - 1, why)
            for number, group, why in zip(
                shown, groups, shared_words_of(connection, matrix, question, shown), strict=True
            )
        ]


def rank(connection: sqlite3.Connection, matrix: index.Matrix, question: str) -> list[int]:
    """Return the passages that have a word of the question or are near it, the best first.

    By words alone without encoder.
    """
    words = index.by_words(connection, question)
    near = matrix.ranked(_vector(question)) if encoder() else []
    cosines = matrix.of(near) @ _vector(question)
    fitting = {*words, *(number for number, cosine in zip(near, cosines, strict=True) if cosine > NEAR)}
    return [number for number in index.fuse(words, near) if number in fitting]


def shared_words_of(
    connection: sqlite3.Connection, matrix: index.Matrix, question: str, numbers: Sequence[int]
) -> list[Shared]:
    """Return what each of these passages shares with the question."""
    words = index.shared_words(connection, question, numbers)
    cosines = matrix.of(numbers) @ _vector(question)
    return [Shared(tuple(words[number]), float(cosine)) for number, cosine in zip(numbers, cosines, strict=True)]


def _vector(question: str) -> Vectors:
    encode = encoder()
    return encode([question])[0] if encode else np.zeros(WIDTH, np.float32)


def _groups(
    connection: sqlite3.Connection, ranking: Sequence[int], matrix: index.Matrix, limit: int
) -> list[list[int]]:
    """Return the first `limit` of the ranking, each with all that are much the same, however far below they stand."""
    groups: list[list[int]] = []
    taken: set[int] = set()
    for number in ranking:
        if len(groups) == limit:
            break
        if number not in taken:
            groups.append([number, *_alike(connection, number, matrix)])
            taken.update(groups[-1])
    return groups


def _alike(connection: sqlite3.Connection, number: int, matrix: index.Matrix) -> list[int]:
    """Return the others of the same bytes, and those of the same name that say nearly the same."""
    sql = (
        "select other.id, other.sha256 = this.sha256 or words.description = own.description"
        " from definition this join definition other on other.sha256 = this.sha256 or other.name = this.name"
        " join words on words.rowid = other.id join words own on own.rowid = this.id"
        " where this.id = ?1 and other.id != ?1"
    )
    rows = connection.execute(sql, (number,)).fetchall()
    near = matrix.of([other for other, _ in rows]) @ matrix.of([number])[0] > ALIKE
    return [other for (other, same), close in zip(rows, near, strict=True) if same or close]


def _preferred_one(connection: sqlite3.Connection, group: Sequence[int]) -> int:
    """Return the one of several alike that has the best licence, then the fewest findings."""
    places = ", ".join("?" * len(group))
    sql = f"select id from definition where id in ({places}) order by terms, findings, id limit 1"  # noqa: S608
    return int(connection.execute(sql, tuple(group)).fetchone()[0])


def _definition(connection: sqlite3.Connection, number: int) -> Definition:
    return unpack_definition(connection.execute("select packed from definition where id = ?", (number,)).fetchone()[0])
