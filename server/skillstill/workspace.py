"""The one folder that a run may touch, and the jail around it.

The jail holds against paths that a model makes up and against what lies in the folder: links out, devices, pipes. It
does not hold against another process that swaps folders for links while a file is being opened, nor against hard links:
those are files of the folder. Files of secrets are recognised by their names. In other files the tools redact keys.
"""

import os
import stat
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pathspec import GitIgnoreSpec

from skillstill.errors import Refusal, WorkspaceError

if TYPE_CHECKING:
    from skillstill.sandbox.sandbox import Sandbox

MAX_BYTES = 5_000_000  # far above hand-written source; below what would stall a reader

# Names under which programs keep passwords, keys and tokens, and what people call files of them: gitignore patterns in
# lower case, none negated, matched in any case and at any depth, files and folders alike. Drawn up from the file
# signatures of gitrob and shhgit and from the programs' manuals. Left out of those: names of what is written by hand
# and read by everybody (`settings.py`, `.bashrc`, `*.sql`, `*.log`).
HISTORY_OF_CHANGES = (".git", ".hg", ".svn")  # folders of bookkeeping, with addresses that hold tokens
KEYS = (
    ".ssh", ".gnupg", "*.pem", "*.pem.*", "*.key", "*.key.bak", "*.p8", "*.p12", "*.pfx", "*.pkcs12", "*.jks",
    "*.keystore", "*.ppk", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*_rsa", "*_dsa", "*_ecdsa", "*_ed25519",
    "ssh_host_*_key", "secring.*", "private-keys-v1.d", "otr.private_key", "hudson.util.secret", "*.agekey",
    "*.bek", "*.fve", "*.tpm", "wallet.dat",
)  # fmt: skip
ENVIRONMENTS = (
    "*.env", ".env.local", ".env.*.local", ".env.dev*", ".env.prod*", ".env.stag*", ".env.test", ".env.ba*",
    ".env.old", ".env.secret*", ".env.live*", ".env.ci", ".env.qa", ".env.uat", ".env~", ".envrc",
)  # fmt: skip
CLOUDS = (
    ".aws", ".aws_credentials", "aws_credentials*", "*accesskeys.csv", "rootkey.csv", ".azure", "azureauth.json",
    "*.publishsettings", "local.settings.json", "**/.config/gcloud", "gcloud/credentials.db", "gcloud/access_tokens.db",
    "application_default_credentials.json", "client_secret*.json", "service-account*.json", "*service_account*.json",
    "*serviceaccount*.json", "*firebase-adminsdk*.json", ".boto", ".s3cfg", ".passwd-s3fs", "rclone.conf",
    ".rclone.conf", ".oci", "**/doctl/config.yaml", ".tugboat", ".databrickscfg", ".snowsql", ".terraformrc",
    "terraform.rc", "*.tfrc.json", "*.tfstate", "*.tfstate.*", "*.tfvars", "*.tfvars.json", ".vault-token",
    ".vault_pass*", "vault_pass*", "vault-password*", ".chef", "knife.rb", "**/.vercel/auth.json", "**/.config/stripe",
    "**/.config/op", "**/.fly/config.yml",
)  # fmt: skip
CONTAINERS = (
    ".kube", "kubeconfig", "kubeconfig.*", "*.kubeconfig", "**/kubernetes/admin.conf", "k3s.yaml",
    "**/.docker/config.json", ".dockercfg", "*.dockercfg", ".dockerconfigjson", "*.dockerconfigjson",
    "**/containers/auth.json", "**/run/secrets",
)  # fmt: skip
FORGES = (
    ".git-credential*", "**/.config/git/credentials", "**/gh/hosts.yml", "**/.config/hub", "**/glab-cli/config.yml",
    ".netrc", "_netrc", ".netrc.gpg",
)  # fmt: skip
MODELS = (
    ".claude.json", ".claude.json.*", ".credentials.json", "**/.codex/auth.json", "**/.gemini/oauth_creds.json",
    "**/huggingface/token", "**/huggingface/stored_tokens", "**/.huggingface/token", "kaggle.json",
)  # fmt: skip
PACKAGES = (
    ".pypirc", ".npmrc", "**/.cargo/credentials*", "**/.gem/credentials", "**/.composer/auth.json", "auth.json",
    "**/.m2/settings*.xml", "**/.gradle/gradle.properties", ".sentryclirc", "ngrok.yml", ".ngrok2",
)  # fmt: skip
DATABASES = (
    ".pgpass", "pgpass.conf", ".pg_service.conf", ".my.cnf", ".mylogin.cnf", ".dbshell", "robomongo.json",
    "dbeaver-data-sources.xml", "credentials-config.json",
)  # fmt: skip
MAIL_AND_TRANSFER = (
    ".fetchmailrc", ".msmtprc", ".muttrc", ".mutt", ".offlineimaprc", ".authinfo", ".authinfo.gpg", "sftp-config.json",
    ".ftpconfig", ".ftppass", "**/.vscode/sftp.json", ".remote-sync.json", "filezilla.xml", "sitemanager.xml",
    "recentservers.xml", "winscp.ini", "ws_ftp.ini", "proftpdpasswd", "**/.purple/accounts.xml", "**/.irssi/config",
    "**/.weechat/sec.conf", ".trc", "**/recon-ng/keys.db",
)  # fmt: skip
NETWORKS = (
    "*.ovpn", "*.tblk", "*.rdp", "*.rdg", "wg[0-9]*.conf", "**/wireguard/*.conf", "ipsec.secrets", "chap-secrets",
    "pap-secrets", "wpa_supplicant.conf", "*.nmconnection",
)  # fmt: skip
PASSWORDS = (
    ".htpasswd", "*.htpasswd", "htpasswd", "**/etc/shadow", "**/etc/shadow-", "**/etc/gshadow", "*.kdb", "*.kdbx",
    "*.psafe3", "*.agilekeychain", "*.opvault", "*.1pif", "*.keychain", "*.keychain-db", "*.kwallet", "*.keyring",
    ".password-store", "logins.json", "key3.db", "key4.db", "login data", "password.txt", "passwords.txt",
    "passwords.csv", ".password", ".passwords",
)  # fmt: skip
TYPED = (
    ".*_history", ".histfile", ".lesshst", ".viminfo", "fish_history", "consolehost_history.txt",
)  # fmt: skip
SITES = (
    "wp-config*.php", "localsettings.php", "**/sites/default/settings.php", "secret_token.rb", "credentials.xml",
    "jenkins.plugins.publish_over_ssh.bapsshpublisherplugin.xml",
)  # fmt: skip
PLAINLY = (  # what such a file is called if a person names it; sources are shown, `secrets/vault.py` is one
    "credentials.json", "credentials.csv", "credentials.txt", "credentials.ini", "credentials.toml", "credentials.y*ml",
    ".credentials", "secret.y*ml", "secrets.y*ml", "secret.json", "secrets.json", "secret.toml", "secrets.toml",
    "secret.txt", "secrets.txt", "secrets.ini", "secrets.properties", ".secret", ".secrets", "token.json",
    "tokens.json", "token.txt", "tokens.txt", "token.pickle", ".token", "access_token", "access_token.txt",
    "access_token.json", "oauth_token.json", "oauth_creds.json", "api_key", ".api_key", "api_key.txt", "api_keys.txt",
    "api_keys.json", "apikey.txt", "apikeys.json",
    *(f"**/secrets/**/*.{kind}" for kind in ("json", "y*ml", "toml", "ini", "conf", "cfg", "txt", "properties", "enc")),
    *(f"**/secrets/**/*{word}" for word in ("password", "token", "key", "secret", "credentials")),
)  # fmt: skip
SECRETS = (
    *HISTORY_OF_CHANGES, *KEYS, *ENVIRONMENTS, *CLOUDS, *CONTAINERS, *FORGES, *MODELS, *PACKAGES, *DATABASES,
    *MAIL_AND_TRANSFER, *NETWORKS, *PASSWORDS, *TYPED, *SITES, *PLAINLY,
)  # fmt: skip


class Workspace:
    """A folder. Paths that leave it are refused; paths that it hands out are relative to it, with `/`.

    sandbox   where commands run, around the same folder; None: nothing is executed
    """

    def __init__(self, root: Path, sandbox: "Sandbox | None" = None) -> None:
        """Raise WorkspaceError if `root` is not a folder, or is `/`, the home folder or above it."""
        try:
            self.root = root.expanduser().resolve(strict=True)
        except (OSError, RuntimeError, ValueError) as error:
            raise WorkspaceError(f"no such folder: {root}") from error
        self.sandbox = sandbox
        if not self.root.is_dir():
            raise WorkspaceError(f"not a folder: {root}")
        if _home().is_relative_to(self.root):
            raise WorkspaceError(
                f"{self.root} is too wide for a workspace (it is or holds your home folder): "
                "name one project folder with --workspace"
            )

    def resolve(self, path: str) -> Path:
        """Return the existing file or folder inside the root that a model's path names, links followed.

        Raise Refusal, in words for the model. They are the same whether a path outside exists or not.
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
        """Return the path from the root as tools print it, `.` for the root; bytes that are not UTF-8 as U+FFFD."""
        return os.fsencode(real.relative_to(self.root)).decode("utf-8", "replace")

    def is_secret(self, path: str) -> bool:
        """Return whether a name in the path is that of a secret. The path may be absolute, inside the workspace."""
        inside = path.removeprefix(f"{self.root}/").lower()
        return any(map(_is_secret_name, inside.split("/"))) or _secrets(False).match_file(inside)

    def read(self, path: str, limit: int = MAX_BYTES, *, in_any_encoding: bool = False) -> bytes:
        """Return the bytes of a text file. Raise Refusal if it is no regular file, binary or larger than `limit`.

        A text of two bytes a letter looks binary.
        """
        real = self.resolve(path)
        if real.is_dir():
            raise Refusal(f"{path!r} is a folder: use list")
        try:
            data = _read_regular(real, path, limit)
        except OSError as error:
            raise Refusal(f"{path!r} cannot be read: {error.strerror}") from error
        if b"\0" in data[:8192] and not in_any_encoding:
            raise Refusal(f"{path!r} is binary: read text files only")
        return data


@lru_cache(100_000)  # most names of a folder come again and again, and a match takes half a millisecond
def _is_secret_name(name: str) -> bool:
    return _secrets(True).match_file(name)


@cache
def _secrets(are_names: bool) -> GitIgnoreSpec:
    """Return the patterns that are about one name of a path, or those about several."""
    return GitIgnoreSpec.from_lines(pattern for pattern in SECRETS if ("/" not in pattern) == are_names)


def _home() -> Path:
    """Return the home folder. Raise WorkspaceError if it is unknown: then it cannot be kept out either."""
    try:
        return Path.home().resolve()
    except RuntimeError as error:
        raise WorkspaceError("your home folder is not known: set HOME") from error


def _read_regular(real: Path, shown: str, limit: int) -> bytes:
    """Return the bytes of a regular file. A pipe cannot block it, and a link put there meanwhile is not followed."""
    descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Refusal(f"{shown!r} is not a regular file")
        if status.st_size > limit:
            raise Refusal(f"{shown!r} has {status.st_size:,} bytes, at most {limit:,} are read: use search")
        return file.read(limit)
