"""The tree of a commit. A bare clone stays in the cache, for the step `later_commits`; no hook, no filter runs."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from pathspec import GitIgnoreSpec
from skillstill.errors import WorkspaceSourceError

from skillstill_training.workspaces.archives import unpack
from skillstill_training.workspaces.fetching.local import locate_folder
from skillstill_training.workspaces.requests import FetchRequest, cache_folder, locked

SAFE = (
    "--literal-pathspecs",
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never",
    "-c", "protocol.file.allow=always", "-c", "protocol.https.allow=always", "-c", "protocol.ssh.allow=always",
)  # fmt: skip
# Above a tree's own .gitattributes: every file comes out, and as it was committed.
RAW = "* -export-ignore -export-subst -filter -text -ident -working-tree-encoding\n"
MOST_PARTS = 500  # of a commit that git is told by name
LINK, COMMIT = "repository.git", "commit"  # beside the tree: a link to the clone; the commit's hash
# Set while git runs a hook of a repository, from which we may have been started.
OF_ANOTHER = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_PREFIX"}


def fetch(request: FetchRequest, tree: Path) -> None:
    address, _, commit = request.wanted.rpartition("@")
    remote = address if _is_url(address) else str(locate_folder(FetchRequest(address, None, request.skill_folder)))
    clone = cache_folder() / "clones" / hashlib.sha256(remote.encode()).hexdigest()[:32]
    with locked(clone.parent):
        _have(request, remote, clone, commit)
    archive = tree.with_name("commit.tar")
    parts = _parts(request, clone, commit)
    git(clone, "archive", "--format=tar", f"--output={archive}", commit, "--", *parts)
    unpack(archive, tree)
    archive.unlink()
    tree.with_name(LINK).symlink_to(clone)
    tree.with_name(COMMIT).write_text(commit, encoding="utf-8")


def _parts(request: FetchRequest, clone: Path, commit: str) -> Sequence[str]:
    """Return the folders and files that hold all that is kept of a commit; none if that is all of it, or in too many.

    A repository may be larger than a workspace of which little is kept.
    """
    spec = GitIgnoreSpec.from_lines(request.keep)
    names = git(clone, "ls-tree", "-r", "-z", "--name-only", commit).split("\0") if len(spec) else []
    kept = map(PurePosixPath, spec.match_files(names))
    parts = {str(path.parent if len(path.parts) > 1 else path) for path in kept}
    return sorted(parts) if len(parts) <= MOST_PARTS else ()


def git(repository: Path, *arguments: str) -> str:
    """Return what git says, in a repository. Raise WorkspaceSourceError: its own last words."""
    return _run("--git-dir", str(repository), *arguments)


def place_history(repository: Path, tree: Path) -> None:
    """Put the commits behind the tree, with their tags, into its `.git`: those of the clone, or of a folder's checkout.

    Raise WorkspaceSourceError.
    """
    noted = tree.with_name(COMMIT)
    home = repository if noted.is_file() else repository / ".git"
    commit = noted.read_text(encoding="utf-8") if noted.is_file() else git(home, "rev-parse", "HEAD").strip()
    _run("init", "--quiet", "--template=", "--initial-branch=main", str(tree))
    git(tree / ".git", "config", "core.logAllRefUpdates", "false")  # a log would tell who fetched
    git(
        tree / ".git", "fetch", "--quiet", "--update-head-ok", "--no-write-fetch-head", "--no-auto-maintenance",
        str(home.resolve()), f"+{commit}:refs/heads/main",
    )  # fmt: skip


def _is_url(address: str) -> bool:
    """Return whether it is `scheme://…`, or `host:path` as ssh has it."""
    return "://" in address or ":" in address.split("/")[0]


def _have(request: FetchRequest, remote: str, clone: Path, commit: str) -> None:
    if not clone.is_dir():
        request.need_network()
        part = clone.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)  # of a try that was cut off
        _run("clone", "--quiet", "--bare", "--no-local", "--template=", "--", remote, str(part))
        (part / "info").mkdir(exist_ok=True)
        (part / "info/attributes").write_text(RAW, encoding="utf-8")
        part.rename(clone)
    if not _has(clone, commit):
        request.need_network()
        git(clone, "fetch", "--quiet", "--no-tags", "origin", "+refs/heads/*:refs/heads/*")
    if not _has(clone, commit):
        raise WorkspaceSourceError(f"the repository has no commit {commit}; check the commit")


def _has(clone: Path, commit: str) -> bool:
    try:
        git(clone, "cat-file", "-e", f"{commit}^{{commit}}")
    except WorkspaceSourceError:
        return False
    return True


def _run(*arguments: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in OF_ANOTHER}
    try:
        ran = subprocess.run(
            ["git", *SAFE, *arguments],
            capture_output=True,
            check=False,
            env={**environment, "GIT_TERMINAL_PROMPT": "0", "GIT_ATTR_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"},
        )
    except FileNotFoundError as error:
        raise WorkspaceSourceError("there is no git here: install it") from error
    if ran.returncode:
        command = arguments[2] if arguments[0] == "--git-dir" else arguments[0]
        said = ran.stderr.decode("utf-8", "replace").strip().splitlines() or ["it gave no reason"]
        raise WorkspaceSourceError(f"git {command} failed: {said[-1]}")
    return ran.stdout.decode("utf-8", "replace")
