"""apt-get with folders of its own: it fetches source packages without root and without changing the system.

The lists of source packages are derived from the machine's own lists of binary ones.
"""

import re
import subprocess
from pathlib import Path

from skillstill.errors import WorkspaceSourceError

ETC = Path("/etc/apt")
# A line such as `deb [signed-by=/a/key] http://… bookworm main`
ONE_LINE = re.compile(r"^[ \t]*deb(?:-src)?[ \t]+(.*)$", re.MULTILINE)
TYPES = re.compile(r"^Types:.*\bdeb\b.*$|^Types:.*\bdeb-src\b.*$", re.MULTILINE | re.IGNORECASE)
DISABLED = re.compile(r"^Enabled:[ \t]*(no|false|0|off)[ \t]*$", re.MULTILINE | re.IGNORECASE)


def source_lines(text: str) -> str:
    """Return the lines of a `.list` file as `deb-src` lines."""
    return "".join(f"deb-src {line}\n" for line in dict.fromkeys(ONE_LINE.findall(text)))


def source_stanzas(text: str) -> str:
    """Return the stanzas of a deb822 `.sources` file, of source packages; disabled ones are left out."""
    stanzas = re.split(r"\n[ \t]*\n", text)
    wanted = [one for one in stanzas if TYPES.search(one) and not DISABLED.search(one)]
    return "\n\n".join(TYPES.sub("Types: deb-src", one).strip("\n") for one in wanted) + "\n"


def configuration(folder: Path) -> str:
    """Return an apt.conf whose state, cache and lists lie in that folder.

    Without hooks: those are for the system's own.
    """
    return "".join(
        (
            "#clear APT::Update::Pre-Invoke;\n",
            "#clear APT::Update::Post-Invoke;\n",
            "#clear APT::Update::Post-Invoke-Success;\n",
            f'Dir::State "{folder}/state";\n',
            f'Dir::State::status "{folder}/status";\n',
            f'Dir::Cache "{folder}/cache";\n',
            f'Dir::Etc::SourceList "{folder}/sources.list";\n',
            f'Dir::Etc::SourceParts "{folder}/sources.list.d";\n',
        )
    )


class Apt:
    """apt over the lists in `folder`, which are fetched when they are first needed."""

    def __init__(self, folder: Path, etc: Path = ETC) -> None:
        self.folder = folder
        for name in ("state/lists/partial", "cache/archives/partial", "sources.list.d"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "status").touch()
        (folder / "apt.conf").write_text(configuration(folder), encoding="utf-8")
        self._derive(etc)

    def _derive(self, etc: Path) -> None:
        lists = [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*.list"))]
        lines = "".join(source_lines(file.read_text("utf-8", "replace")) for file in lists if file.is_file())
        (self.folder / "sources.list").write_text(lines, encoding="utf-8")
        for file in sorted((etc / "sources.list.d").glob("*.sources")):
            stanzas = source_stanzas(file.read_text("utf-8", "replace"))
            (self.folder / "sources.list.d" / file.name).write_text(stanzas, encoding="utf-8")

    def download(self, name: str, version: str, into: Path) -> None:
        """Download all files of a source package. Raise WorkspaceSourceError with the versions that there are."""
        fresh = not any((self.folder / "state/lists").glob("*Sources*"))
        if fresh:
            self.run("apt-get", "update")
        arguments = ("source", "--download-only", "--only-source", f"{name}={version}")
        asked = self.run("apt-get", *arguments, into=into)
        if asked.returncode and not fresh:
            self.run("apt-get", "update")
            asked = self.run("apt-get", *arguments, into=into)
        if asked.returncode:
            raise WorkspaceSourceError(self._reason(name, version, asked.stderr))

    def run(self, program: str, *arguments: str, into: Path | None = None) -> subprocess.CompletedProcess[str]:
        command = [program, "-q", "-c", str(self.folder / "apt.conf"), *arguments]
        try:
            return subprocess.run(
                command, cwd=into or self.folder, capture_output=True, text=True, errors="replace", check=False
            )
        except FileNotFoundError as error:
            raise WorkspaceSourceError(
                f"there is no {program} here: Debian's sources need Debian or a kin of it"
            ) from error

    def _reason(self, name: str, version: str, said: str) -> str:
        shown = self.run("apt-cache", "showsrc", "--only-source", name).stdout
        versions = sorted(set(re.findall(r"^Version: (.+)$", shown, re.MULTILINE)))
        if versions and version not in versions:
            return f"there is no version {version}; the machine's Debian has {', '.join(versions)}"
        told = re.findall(r"^E: (?:Failed to fetch \S+\s+)?(.+?)(?: \[IP: .*)?$", said, re.MULTILINE)
        return f"apt cannot fetch it ({told[0] if told else 'no reason given'}): check the name and the network"
