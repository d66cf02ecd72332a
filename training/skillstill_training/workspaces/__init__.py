"""Workspaces from declared, hash-pinned sources: fetched once, made read-only, executed by steps in sandboxes alone.

sources.toml -> Source -> fetched, verified, unpacked -> `keep` -> steps -> Material, cached

What is fetched is data: no build backend, no setup.py and no hook of it runs. The steps that a skill's own
`steps.py` defines do run: they are the skill author's code, as `goals.py` is.
"""

from skillstill.errors import WorkspaceSourceError
from skillstill.util.loops import in_own_loop

from skillstill_training.workspaces.building import BuiltWorkspace, build_workspace, pinned, workspace_roots
from skillstill_training.workspaces.sources import Source, load_sources
from skillstill_training.workspaces.steps.patches import patch_description
from skillstill_training.workspaces.trials import Trials, trials

__all__ = [
    "BuiltWorkspace",
    "Source",
    "Trials",
    "WorkspaceSourceError",
    "build_workspace",
    "in_own_loop",
    "load_sources",
    "patch_description",
    "pinned",
    "trials",
    "workspace_roots",
]
