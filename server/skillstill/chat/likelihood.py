"""What a line means, in somebody's words: the text whose probability ranks lines.

A small model does not know what words a log has for something, and cannot say which of twenty lines means it; how
probable that description is after each of the lines, it can tell. This is query likelihood (Ponte and Croft, 1998) by
a language model (Sachan and others, 2022, "Improving Passage Retrieval with Zero-Shot Question Generation"), which is
shown a few examples first.
"""

from skillstill.chat.markers import escape
from skillstill.util.text import one_line

ARGUMENT = "meaning"  # of a call that asks for lines so
LONGEST = 200  # characters of either
READ, SAID = "A line says: {}\nThat means:", " {}"
# Of no skill, and of both kinds that people ask for: what is the case, and what was done to somebody.
EXAMPLES = (
    ("battery of probe 12 at 9 %", "a device will soon be without power"),
    ("mail-2:25 hung up during the greeting", "was cut short by"),
    ("row 381 of 2,040 has no postcode", "part of an address is missing in the data"),
    ("vpn-1:443 presented an unknown certificate", "could not trust"),
)
SHOWN = "".join(f"{READ.format(line)}{SAID.format(meant)}\n" for line, meant in EXAMPLES)


def ranking_prompt(passage: str, text: str) -> tuple[str, str]:
    """Return the passage, which is read behind `SHOWN`, and the text, whose probability counts."""
    read, said = (escape(one_line(one, LONGEST)) for one in (passage, text))
    return READ.format(read), SAID.format(said)
