"""Under which terms a definition may be worked on: as its front matter declares, else by the nearest LICENSE file
upward, else unclear. Nothing here is legal advice: it says what a file calls itself.
"""

import re
from collections.abc import Sequence

from skillstill.library.definition import Licence, Terms
from skillstill.util.text import one_line

LONGEST = 200_000  # characters of a licence file that are looked at
FILE = re.compile(r"(?:un)?licen[sc]e(?:[.-][\w.-]*)?|copying(?:\.\w+)?", re.IGNORECASE)
README = re.compile(r"readme(?:\.md|\.txt|\.rst)?", re.IGNORECASE)
FORBIDDEN = "all rights reserved"
# What the text of a licence says of itself, in a few words of its own; the first that fits counts.
_TEXTS = (
    ("CC-BY-NC-ND-4.0", r"attribution-noncommercial-noderivatives 4\.0|by-nc-nd/4\.0"),
    ("CC-BY-NC-SA-4.0", r"attribution-noncommercial-sharealike 4\.0|by-nc-sa/4\.0"),
    ("CC-BY-ND-4.0", r"attribution-noderivatives 4\.0|by-nd/4\.0"),
    ("CC-BY-NC-4.0", r"attribution-noncommercial 4\.0|by-nc/4\.0"),
    ("CC-BY-SA-4.0", r"attribution-sharealike 4\.0|by-sa/4\.0"),
    ("CC-BY-4.0", r"(?:creative commons )?attribution 4\.0 international|licenses/by/4\.0"),
    ("CC0-1.0", r"cc0 1\.0 universal|publicdomain/zero/1\.0"),
    ("Apache-2.0", r"apache license,? version 2\.0"),
    ("AGPL-3.0", r"gnu affero general public license"),
    ("LGPL-3.0", r"gnu lesser general public license"),
    ("GPL-3.0", r"gnu general public license.{0,40}version 3"),
    ("GPL-2.0", r"gnu general public license.{0,40}version 2"),
    ("MPL-2.0", r"mozilla public license,? (?:version |v\. ?)?2\.0"),
    ("BUSL-1.1", r"business source license 1\.1"),
    ("MIT", r"permission is hereby granted, free of charge.*the software is provided .?as is"),
    ("ISC", r"permission to use, copy, modify, and/or distribute this software"),
    ("BSD-3-Clause", r"redistribution and use in source and binary forms.*neither the name"),
    ("BSD-2-Clause", r"redistribution and use in source and binary forms"),
    ("Unlicense", r"free and unencumbered software released into the public domain"),
    (FORBIDDEN, r"all rights reserved|subject to .{0,80}(?:commercial|consumer) terms"),
)
_PATTERNS = tuple((name, re.compile(pattern, re.DOTALL)) for name, pattern in _TEXTS)
# How people write them in a `license` field or in a README.
_NAMES = (
    ("CC-BY-NC-ND-4.0", r"cc[ -]by[ -]nc[ -]nd"),
    ("CC-BY-NC-SA-4.0", r"cc[ -]by[ -]nc[ -]sa"),
    ("CC-BY-ND-4.0", r"cc[ -]by[ -]nd"),
    ("CC-BY-NC-4.0", r"cc[ -]by[ -]nc"),
    ("CC-BY-SA-4.0", r"cc[ -]by[ -]sa"),
    ("CC-BY-4.0", r"cc[ -]by(?![ -][ns])"),
    ("CC0-1.0", r"cc0"),
    ("Apache-2.0", r"apache"),
    ("AGPL-3.0", r"agpl"),
    ("LGPL-3.0", r"lgpl"),
    ("GPL-2.0", r"gpl-?v?2"),
    ("GPL-3.0", r"gpl(?:-?v?3)?"),
    ("MPL-2.0", r"mpl|mozilla public"),
    ("BSD-2-Clause", r"bsd[ -]2"),
    ("BSD-3-Clause", r"bsd"),
    ("BUSL-1.1", r"busl|business source"),
    ("ISC", r"isc"),
    ("Unlicense", r"unlicen[sc]e"),
    ("MIT", r"mit(?:-0)?"),
    (FORBIDDEN, r"proprietary|all rights reserved|commercial|confidential"),
)
_NAMED = tuple((name, re.compile(rf"(?<![a-z]){pattern}(?![a-z])")) for name, pattern in _NAMES)
_FORBIDS = {FORBIDDEN, "CC-BY-NC-ND-4.0", "CC-BY-ND-4.0"}
_UNCLEAR = {"CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "BUSL-1.1"}  # a model may be used commercially, or not be software
SHARE_ALIKE = {"CC-BY-SA-4.0", "AGPL-3.0", "LGPL-3.0", "GPL-2.0", "GPL-3.0", "MPL-2.0"}


def declared_licence(text: str, where: str) -> Licence:
    """Return the licence that a `license` field names: a common name, else its text, which is unclear."""
    words = one_line(text, 200).lower()
    name = next((name for name, pattern in _NAMED if pattern.search(words)), "")
    return Licence(name=name or one_line(text, 80), where=where, derived_works=_terms(name))


def recognise_licence(text: str, where: str) -> Licence:
    """Return the licence of a licence file; several texts in one (a dual licence, a list of notices) are unclear."""
    words = " ".join(text[:LONGEST].lower().split())
    names = [name for name, pattern in _PATTERNS if pattern.search(words)]
    if not names:
        return Licence(name=one_line(text, 80), where=where)
    return Licence(name=names[0], where=where, derived_works=_terms(names[0]))


def mentioned_licence(readme: str, where: str) -> Licence | None:
    """Return the licence that a README names if there is no file: unclear, since the terms are missing."""
    for line in readme[:LONGEST].lower().split("\n"):
        if "licen" in line and (name := next((name for name, pattern in _NAMED if pattern.search(line)), "")):
            return Licence(name=name, where=where)
    return None


def strictest_licence(licences: Sequence[Licence]) -> Licence:
    """Return the licence that asks for most; no licence at all is unclear."""
    order: list[Terms] = ["forbidden", "unclear", "allowed"]
    return min(
        licences, key=lambda one: (order.index(one.derived_works), one.name not in SHARE_ALIKE), default=Licence()
    )


def _terms(name: str) -> Terms:
    if not name or name in _UNCLEAR:
        return "unclear"
    return "forbidden" if name in _FORBIDS else "allowed"
