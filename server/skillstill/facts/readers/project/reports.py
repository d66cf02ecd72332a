"""Test reports in the XML that JUnit made common."""

from skillstill.facts.readers.project.findings import Findings, cut
from skillstill.facts.readers.trees import Node, parse_xml

_OUTCOMES = {"failure": "failed", "error": "error", "skipped": "skipped"}


def read_report(_name: str, data: bytes) -> Findings:
    found, tree = Findings("junit"), parse_xml(data)
    work = [(tree.root, "")]
    while work:
        parent, suite = work.pop()
        suites = []
        for name, node in parent.children:
            if name == "testcase":
                found.test_results.append(_result(node, suite))
            elif name in ("testsuites", "testsuite"):
                suites.append((node, node.text_at("@name") or suite))
        work += reversed(suites)
    if tree.damage:
        found.gaps.append(("test_results", tree.damage))
    return found


def _result(case: Node, suite: str) -> tuple[int, int, str, str, str | None, str, float | None, str | None]:
    outcome = next((node for name, node in case.children if name in _OUTCOMES), None)
    status = next((_OUTCOMES[name] for name, _ in case.children if name in _OUTCOMES), "passed")
    message = None if outcome is None else outcome.text_at("@message") or outcome.text or outcome.text_at("@type")
    name, test_class = cut(case.text_at("@name")) or "", cut(case.text_at("@classname"))
    return case.first, case.last, suite, name, test_class, status, _seconds(case.text_at("@time")), cut(message)


def _seconds(text: str | None) -> float | None:
    """Return the time of a case. Some reports write thousands with a comma."""
    try:
        return None if not text else float(text.replace(",", ""))
    except ValueError:
        return None
