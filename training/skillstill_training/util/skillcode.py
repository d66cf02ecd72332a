"""Which files of a skill's folder its goals and workspaces are made by."""

from pathlib import Path

NOT_CODE = {
    "sources.toml",
    "recipe.toml",
    "subagent.toml",
    "design.toml",
    "baseline.py",
}  # what no goal and no step is made by
SUFFIXES = {".py", ".toml", ".json", ".txt"}


def code_files(skill: Path) -> list[Path]:
    """Return what the skill's own steps may depend on.

    Its Python and the data beside it, without wordings and baseline.
    """
    return sorted(
        file
        for file in skill.rglob("*")
        if file.suffix in SUFFIXES
        and file.name not in NOT_CODE
        and {"wordings", "releases"}.isdisjoint(file.relative_to(skill).parts)
    )
