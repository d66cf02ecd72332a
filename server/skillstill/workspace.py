"""The one folder that a run may touch, and the jail around it.

Holds against paths that a model makes up and against what lies in the folder (links out, devices, pipes). It does not
hold against another process that swaps folders for links while a file is being opened, nor against hard links: those
are files of the folder. Secrets are known by their names, not by their content.
"""

import os
import stat
from functools import cached_property
from pathlib import Path

from pathspec import GitIgnoreSpec

from skillstill.errors import Refusal, WorkspaceError

MAX_BYTES = 5_000_000  # far above hand-written source; below what would stall a reader

# gitignore patterns in lower case, none negated, matched in any case and at any depth, files and folders alike:
# what is likely to hold a secret, and folders of bookkeeping
SECRETS = (
    ".git", ".hg", ".svn", ".ssh", ".gnupg", ".aws", ".kube", "**/.docker/config.json", ".dockercfg", "kubeconfig",
    "*.env", ".env.local", ".env.*.local", ".env.dev*", ".env.prod*", ".env.stag*", ".env.test", ".env.ba*",
    ".env.old", ".env.secret*", ".env.live*", ".env.ci", ".env.qa", ".env.uat", ".env~", ".envrc", ".vault-token",
    "*.tfstate", "*.tfstate.*", "*.tfvars",
    ".netrc", "_netrc", ".pypirc", ".npmrc", ".git-credentials", ".htpasswd", ".pgpass", ".my.cnf", ".s3cfg", ".boto",
    "*.pem", "*.pem.*", "*.key", "*.key.bak", "*.p8", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*",
    "**/.cargo/credentials*", "**/.gem/credentials", "**/.composer/auth.json",
    "credentials.json", "application_default_credentials.json", "client_secret*.json", "service-account*.json",
    "secret.y*ml", "secrets.y*ml", "secret.json", "secrets.json", "secrets.toml",
)  # fmt: skip


class Workspace:
    """A folder. Paths that leave it are refused; paths that it hands out are relative to it, with `/`."""

    def __init__(self, root: Path) -> None:
        """Raises WorkspaceError where `root` is not a folder, or is `/`, the home folder or above it."""
        try:
            self.root = root.expanduser().resolve(strict=True)
        except (OSError, RuntimeError, ValueError) as error:
            raise WorkspaceError(f"no such folder: {root}") from error
        if not self.root.is_dir():
            raise WorkspaceError(f"not a folder: {root}")
        if _home().is_relative_to(self.root):
            raise WorkspaceError(
                f"{self.root} is too wide for a workspace (it is or holds your home folder): "
                "name one project folder with --workspace"
            )

    def resolve(self, path: str) -> Path:
        """The existing file or folder that a model's path names, links followed, inside the root.

        Raises Refusal, in words for the model; they are the same whether a path outside exists or not.
        """
        if "\0" in path or ".." in Path(path).parts:
            raise Refusal(f"{path!r} may not contain '..' or NUL: give a path from the workspace root")
        real = self.root / path
        try:
            # Not strict: says the same of a path outside whether it exists or not, but leaves unresolved what lies
            # behind a loop of links. Strict: no link is left in what comes back.
            for strict in (False, True):
                real = real.resolve(strict=strict)
                if not real.is_relative_to(self.root):
                    raise Refusal(f"{path!r} is outside the workspace: give a path from its root")
            mode = real.lstat().st_mode
        except (OSError, RuntimeError, ValueError) as error:
            raise Refusal(f"no such path: {path!r}") from error
        if self.is_secret(path) or self.is_secret(self.relative(real)):
            raise Refusal(f"{path!r} may hold secrets and is not shown: answer without it")
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise Refusal(f"{path!r} is neither a regular file nor a folder")
        return real

    def relative(self, real: Path) -> str:
        """`real` as the tools print it: from the root, `.` for the root itself; bytes that are not UTF-8 as U+FFFD."""
        return os.fsencode(real.relative_to(self.root)).decode("utf-8", "replace")

    def is_secret(self, path: str) -> bool:
        """Whether a name in the path, which may be an absolute one inside the workspace, is that of a secret."""
        return self._secrets.match_file(path.removeprefix(f"{self.root}/").lower())

    def read(self, path: str, limit: int = MAX_BYTES) -> bytes:
        """The bytes of a regular text file of at most `limit`. Raises Refusal."""
        real = self.resolve(path)
        if real.is_dir():
            raise Refusal(f"{path!r} is a folder: use list")
        try:
            data = _read_regular(real, path, limit)
        except OSError as error:
            raise Refusal(f"{path!r} cannot be read: {error.strerror}") from error
        if b"\0" in data[:8192]:
            raise Refusal(f"{path!r} is binary: read text files only")
        return data

    @cached_property
    def _secrets(self) -> GitIgnoreSpec:
        return GitIgnoreSpec.from_lines(SECRETS)


def _home() -> Path:
    """Raises WorkspaceError where nobody can say which it is: then it cannot be kept out either."""
    try:
        return Path.home().resolve()
    except RuntimeError as error:
        raise WorkspaceError("your home folder is not known: set HOME") from error


def _read_regular(real: Path, shown: str, limit: int) -> bytes:
    """Opened so that a pipe cannot block and a link put there meanwhile is not followed."""
    descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Refusal(f"{shown!r} is not a regular file")
        if status.st_size > limit:
            raise Refusal(f"{shown!r} has {status.st_size:,} bytes, at most {limit:,} are read: use search")
        return file.read(limit)
