"""What a line means, in somebody's words: the text whose probability ranks lines, and which is taught as it is asked.

A small model does not know what words a log has for something, and cannot say which of twenty lines means it; how
probable that description is after each of the lines, it can tell. This is query likelihood (Ponte and Croft, 1998) by
a language model (Sachan and others, 2022, "Improving Passage Retrieval with Zero-Shot Question Generation").
"""

from skillstill.chat import Segment, escape
from skillstill.text import one_line

ARGUMENT = "meaning"  # of a call that asks for lines so
LONGEST = 200  # characters of either
NOTHING = "nothing"  # the passage that says how probable a text is by itself
READ, SAID = "A line says: {}\nThat means:", " {}"


def meaning(passage: str, text: str) -> tuple[Segment, Segment]:
    """The passage, which is read, and the text, whose probability counts and which is learned."""
    read, said = (escape(one_line(one, LONGEST)) for one in (passage, text))
    return Segment(READ.format(read), learned=False), Segment(SAID.format(said), learned=True)
