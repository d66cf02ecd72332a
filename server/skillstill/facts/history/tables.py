"""The tables of a repository's history."""

from skillstill.facts.table import FactColumn, FactTable

SHORT = FactColumn("short", "word", "first 12 characters of the commit's id")

COMMITS = FactTable(
    "commits",
    "a commit that led to what is checked out",
    (
        FactColumn("commit_id"),
        SHORT,
        FactColumn("author", "word"),
        FactColumn("email", "word", "of the author"),
        FactColumn("time", "text", "when it was committed, in UTC: 2026-01-31T12:00:00Z"),
        FactColumn("author_time", "text", "when it was written, if that is another time"),
        FactColumn("subject", "text", "first paragraph of the message"),
        FactColumn("body", "text", "rest of the message, cut at 600 characters"),
        FactColumn("parents", "integer", "how many: 0 for a first commit, 2 or more for a merge"),
        FactColumn("is_merge", "integer", "1 or 0"),
        FactColumn("number", "integer", "place on its line of first parents: 1 is the first commit"),
    ),
    indexed=("short", "author", "time"),
)
CHANGES = FactTable(
    "changes",
    "a file that a commit changed; merges have none",
    (
        SHORT,
        FactColumn("changed_path", "word"),
        FactColumn("status", "word", values=("added", "modified", "deleted", "renamed")),
        FactColumn("old_path", "word", "before it was renamed"),
        FactColumn("added", "integer", "lines, by the smallest diff"),
        FactColumn("removed", "integer", "lines, by the smallest diff"),
        FactColumn("binary", "integer", "1 or 0; a binary file has no lines"),
    ),
    indexed=("short", "changed_path"),
)
TAGS = FactTable(
    "tags",
    "a tag",
    (
        FactColumn("name", "word"),
        FactColumn("short", "word", "the tagged commit: first 12 characters of its id"),
        FactColumn("time", "text", "when it was tagged, or the commit's time if the tag has none"),
        FactColumn("message", "text", "of the tag itself"),
    ),
    indexed=("name", "short"),
)
BRANCHES = FactTable(
    "branches",
    "a branch, also those of remotes as last fetched",
    (
        FactColumn("name", "word", "origin/main is one of the remote origin"),
        FactColumn("short", "word", "its newest commit: first 12 characters of the id"),
        FactColumn("time", "text", "of that commit"),
        FactColumn("message", "text", "subject of that commit"),
        FactColumn("is_current", "integer", "1 if it is checked out"),
        FactColumn("is_remote", "integer", "1 or 0"),
    ),
    indexed=("name",),
)
TABLES = (COMMITS, CHANGES, TAGS, BRANCHES)
