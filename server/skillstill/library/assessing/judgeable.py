"""Whether a text that no program can check may still be judged by a rubric: its own demands on what it answers.

Four conditions, all of them: it only looks, so that its result is the answer and not an action in the world; it
promises to look, so that it is no mere guidance; it speaks of material in a folder, which questions can be about; and
it says often enough what a good answer has to be.
"""

import re

from skillstill.library.assessing.cover import Cover
from skillstill.library.assessing.sheet import Sheet

DEMANDS = 3  # lines: the least number of criteria of a rubric
# What a description promises that no answer can show: it would have to be done.
_ACTS = re.compile(
    r"\b(?:implement|refactor|fix|repair|deploy|install|commit|push|merg|migrat|configur|automat|execut|run|edit|modif|"
    r"updat|creat|build|generat|scaffold|set(?:s|ting)? ?up|send|post|publish|schedul|orchestrat|monitor|translat|"
    r"render|draw|record|play|call|delegat|spawn|train|upload|download|delet|remov|renam|convert|manag|optimi[sz]|tun|"
    r"improv|promot|export|prepar)"
    r"(?:s|es|ed|e|ing|ting|ion|ions)?\b",
    re.IGNORECASE,
)
# What a description promises that ends in an answer.
_LOOKS = re.compile(
    r"\b(?:advis|analy[sz]|assess|audit|challeng|check|compar|critiqu|detect|diagnos|evaluat|examin|explain|find|inspect|"
    r"investigat|judg|read|review|summari[sz]|trac|validat)(?:e|es|ed|s|ing)?\b|"
    r"\b(?:classif|identif|verif)(?:y|ies|ied|ying)\b",
    re.IGNORECASE,
)
_MATERIAL = re.compile(
    r"\b(?:code ?bases?|source code|code|repositor(?:y|ies)|files?|documents?|documentation|README|logs?|datasets?|"
    r"configurations?|changelogs?|notes|manuscripts?|specs?|specifications?|tests?|modules?|APIs?)\b",
    re.IGNORECASE,
)
_DEMAND = re.compile(
    r"\b(?:must|always|never|should|do not|don['\u2019]t|avoid|include|ensure|make sure|at (?:least|most)|required?|"
    r"no more than|instead of|rather than)\b",
    re.IGNORECASE,
)


def is_judgeable(page: Sheet, tools: Cover) -> bool:
    """Return whether a teacher could draw a rubric from it, and see in an answer whether that holds."""
    promises = [line.text for line in page.of("summary")]
    if not tools.only_looks or any(map(_ACTS.search, promises)) or not any(map(_LOOKS.search, promises)):
        return False
    text = [line.text for line in page.of("opening", "prose")]
    demands = sum(_DEMAND.search(line) is not None for line in text)
    return demands >= DEMANDS and any(map(_MATERIAL.search, [*promises, *text]))
