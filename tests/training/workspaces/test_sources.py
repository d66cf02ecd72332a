"""sources.toml: which workspaces a skill declares, and what is wrong with it in one sentence."""

from datetime import date
from pathlib import Path

import pytest
from skillstill.errors import SkillError
from skillstill_training.workspaces import Source, load_sources

from tests.scenes import write

WHOLE = """
[[workspace]]
name = "langextract"
split = "test"
source = "pypi:langextract==1.7.1"
sha256 = "c2a976378a718ec4be448629b2b44d46e2e29b334ce0d75e99cd07aaedf0a47c"
first_uploaded = "2025-07-22"
keep = ["langextract/**"]
steps = ["strip_docstrings", "rename_words"]
seed = 7

[[workspace]]
name = "generated"
split = "train"
steps = ["make_shop"]
"""


def refusal(skill: Path, text: str) -> str:
    with pytest.raises(SkillError) as caught:
        load_sources(write(skill, {"sources.toml": text}))
    return str(caught.value).removeprefix(f"{skill}/sources.toml: ")


def test_every_field_is_read(skill: Path) -> None:
    first, second = load_sources(write(skill, {"sources.toml": WHOLE}))
    assert first.first_uploaded == date(2025, 7, 22)
    assert (first.scheme, first.steps, first.seed) == ("pypi", ("strip_docstrings", "rename_words"), 7)
    assert second == Source(name="generated", split="train", steps=("make_shop",))
    assert second.scheme == "generated"


def test_variants_are_workspaces_of_their_own_that_draw_by_other_seeds(skill: Path) -> None:
    text = WHOLE.replace('steps = ["make_shop"]', 'steps = ["make_shop"]\nseed = 5\nvariants = 2')
    _, first, second = load_sources(write(skill, {"sources.toml": text}))
    assert first == Source(name="generated-1", split="train", steps=("make_shop",), seed=5)
    assert second == Source(name="generated-2", split="train", steps=("make_shop",), seed=6)


def test_a_variant_may_not_have_the_name_of_another_workspace(skill: Path) -> None:
    text = WHOLE.replace('name = "langextract"', 'name = "generated-2"') + "variants = 2\n"
    assert "'generated-2' is there twice" in refusal(skill, text)


def test_a_missing_file_says_what_it_is_for(skill: Path) -> None:
    with pytest.raises(SkillError, match=r"sources\.toml: file: is missing; it lists the workspaces"):
        load_sources(skill)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('source = "svn:here"', "workspace.0.source: expected one of folder:PATH, pypi:NAME==VERSION"),
        ('source = "pypi:name"', "workspace.0.source: expected one of"),
        ('source = "git:here@abc"', "COMMIT of 40 digits"),
        ('source = "git:--upload-pack=x@' + "a" * 40 + '"', "workspace.0.source: expected one of"),
        ('source = "debian:-o=1"', "workspace.0.source: expected one of"),
        ('sha256 = "abc"', "workspace.0.sha256: "),
        ('colour = "red"', "workspace.0.colour: Extra inputs are not permitted, got 'red'"),
        ('first_uploaded = "soon"', "workspace.0.first_uploaded: "),
        ('steps = ["a", "a"]', "workspace.0.steps: expected each step once"),
        ("", "workspace.0: expected a source, or steps that generate everything"),
    ],
)
def test_a_wrong_field_is_named_with_what_was_expected(skill: Path, line: str, said: str) -> None:
    assert said in refusal(skill, f'[[workspace]]\nname = "one"\nsplit = "test"\n{line}\n')


def test_a_name_stands_once(skill: Path) -> None:
    entry = '[[workspace]]\nname = "one"\nsplit = "test"\nsteps = ["a"]\n'
    assert refusal(skill, entry * 2) == "workspace: expected each name once; 'one' is there twice"


def test_what_is_no_toml_and_no_list_is_told(skill: Path) -> None:
    assert refusal(skill, "[[workspace]").startswith("file: is not TOML: ")
    assert refusal(skill, "workspace = []").startswith("workspace: ")
    assert refusal(skill, "").startswith("workspace: Field required")
