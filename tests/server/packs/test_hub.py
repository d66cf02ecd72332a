"""A release goes to a model hub and comes back, through huggingface_hub's own upload and download."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from skillstill.skills.registry import Registry

from tests.server.models.hub import serving
from tests.server.packs.conftest import Skillstill, placed
from tests.server.packs.hub import PackHub

# Of huggingface_hub 2.4's own upload, which calls httpx2 in an old way.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=<...>':DeprecationWarning")


@pytest.fixture
def hub(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PackHub]:
    """A hub without Xet, as the library itself speaks to one; our token is in the environment."""
    from huggingface_hub import constants

    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr("huggingface_hub.utils._http.time", SimpleNamespace(sleep=lambda seconds: None))
    with serving(PackHub(), tmp_path, monkeypatch) as served:
        yield served


@pytest.fixture
def pushed(hub: PackHub, publisher: Path, skillstill: Skillstill) -> PackHub:
    said = skillstill("push", "settings", "hub:owner/name", "--registry", publisher, "--licence", "Apache-2.0")
    assert (said.code, said.err) == (0, "")
    assert said.out == f"pushed; others type: skillstill pull hub:owner/name@{hub.commit}\n"
    return hub


def test_a_push_is_one_private_commit_of_the_pack_and_its_card(pushed: PackHub, packed: Path) -> None:
    assert pushed.private
    assert sorted(pushed.files) == ["README.md", "release.skillstill"]
    asked = [request.partition("?")[0] for request in pushed.requests]
    assert asked[0] == "POST /api/repos/create"
    assert "POST /owner/name.git/info/lfs/objects/batch" in asked
    assert asked[-1] == "POST /api/models/owner/name/commit/main"
    assert len(pushed.verified) == 1


def test_what_is_pulled_is_what_was_pushed(pushed: PackHub, publisher: Path, skillstill: Skillstill) -> None:
    said = skillstill("pull", "hub:owner/name")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"settings  released, from hub:owner/name@{pushed.commit}\n")
    assert "claimed by the pack, not measured here: 88% of 480 verified" in said.out
    mine, theirs = (Registry(where).entry("settings").entry for where in (None, publisher))
    assert mine.serving_hash == theirs.serving_hash
    assert mine.adapter
    assert theirs.adapter
    assert mine.adapter.sha256 == theirs.adapter.sha256


def test_a_commit_can_be_named_and_another_one_is_not_there(pushed: PackHub, skillstill: Skillstill) -> None:
    assert skillstill("pull", f"hub:owner/name@{pushed.commit}", "--as", "mine").code == 0
    said = skillstill("pull", f"hub:owner/name@{'0' * 40}")
    assert said.code == 1
    assert "it has no revision 0000" in said.err


def test_pushed_again_it_sends_no_large_file_twice(pushed: PackHub, publisher: Path, skillstill: Skillstill) -> None:
    pushed.requests.clear()
    again = skillstill("push", "settings", "hub:owner/name", "--registry", publisher, "--licence", "Apache-2.0")
    assert again.code == 0
    assert not [request for request in pushed.requests if request.startswith("PUT")]


def test_the_card_tells_what_it_does_its_figures_and_how_to_use_it(pushed: PackHub) -> None:
    card = pushed.files["README.md"].decode()
    head = yaml.safe_load(card.split("---")[1])
    assert (head["license"], head["base_model"], head["library_name"]) == ("apache-2.0", "owner/tiny", "skillstill")
    assert "# Read settings\n\nAnswers one question about settings.\n" in card
    assert "| this subagent | 87.5% | 83.5% to 90.5% | 480 | 3.1 |" in card
    assert "| its base with the skill's text | 21.0% | 17.0% to 24.0% | 480 | 3.1 |" in card
    assert "As its maker measured them, on held-out goals" in card
    assert "skillstill pull hub:owner/name\nskillstill run settings" in card
    assert "tools search | Apache-2.0 |" in card


def test_without_a_token_nothing_is_sent(
    hub: PackHub, publisher: Path, skillstill: Skillstill, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HF_TOKEN")
    (tmp_path / "token").write_text("hf_secret", encoding="utf-8")
    said = skillstill("push", "settings", "hub:owner/name", "--registry", publisher)
    assert said.code == 64
    assert "set HF_TOKEN to a token that may write" in said.err
    skillstill("pull", "hub:owner/name")
    assert not [request for request in hub.requests if request.startswith("POST")]
    assert set(hub.tokens.values()) == {None}, "a token that lies in a file is not ours to send"


@pytest.mark.parametrize(
    ("token", "refused", "repository", "says"),
    [
        ("hf_wrong", None, "owner/name", "it answers 401; set HF_TOKEN to a token that may do this"),
        ("hf_secret", None, "other/name", "it answers 403; set HF_TOKEN"),
        ("hf_secret", 418, "owner/name", "it answers 418; try again later"),
    ],
)
def test_a_hub_that_refuses_is_one_sentence_without_the_token(
    hub: PackHub, publisher: Path, skillstill: Skillstill, monkeypatch: pytest.MonkeyPatch,
    token: str, refused: int | None, repository: str, says: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("HF_TOKEN", token)
    hub.refused = refused
    said = skillstill("push", "settings", f"hub:{repository}", "--registry", publisher)
    assert (said.code, said.err.count("\n")) == (1, 1)
    assert says in said.err
    assert token not in said.err
    assert not hub.files


def test_what_lies_on_a_hub_is_judged_as_any_pack(pushed: PackHub, skillstill: Skillstill) -> None:
    pushed.altered = True
    said = skillstill("pull", "hub:owner/name")
    assert (said.code, said.err.count("\n")) == (1, 1)
    assert "is cut off or no pack" in said.err
    assert not placed()


@pytest.mark.parametrize(("repository", "says"), [("other/name", "no such repository"), ("owner/name", "it holds no")])
def test_what_is_not_there_is_said(hub: PackHub, skillstill: Skillstill, repository: str, says: str) -> None:
    said = skillstill("pull", f"hub:{repository}")
    assert said.code == 1
    assert says in said.err


@pytest.mark.parametrize("address", ["owner/name", "hub:name", "hub:a/b/c", "hub:owner/name@", "hf:owner/name"])
def test_an_address_that_is_none_is_told_how_one_looks(skillstill: Skillstill, address: str) -> None:
    said = skillstill("pull", address)
    assert said.code == 64
    assert "type hub:OWNER/NAME, or hub:OWNER/NAME@REVISION" in said.err


def test_json_is_one_value_for_a_program(hub: PackHub, publisher: Path, skillstill: Skillstill) -> None:
    said = skillstill("push", "settings", "hub:owner/name", "--registry", publisher, "--public", "--json")
    assert json.loads(said.out) == {"repository": "owner/name", "commit": hub.commit}
    assert hub.private is False
