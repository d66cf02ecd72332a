"""Which subagents an orchestrator may read of: not those whose pack is suspicious, until somebody accepts that."""

from skillstill.skills.registry import ListedEntry
from skillstill.skills.trust import pack_around


def is_servable(listed: ListedEntry) -> bool:
    """Return whether an orchestrator may read it: not if it is suspicious, came in a pack, and nobody accepted that."""
    entry = listed.entry
    if entry.accepted or not pack_around(listed.skill_folder):
        return True
    from skillstill.util.suspicion import suspicions  # only for packs: the server starts without it

    return not suspicions("\n".join((entry.title, entry.description, entry.search_hint)))
