"""A model hub that takes uploads: what huggingface_hub asks of one, in the order in which it asks.

create -> validate the card -> preupload: which files are large -> LFS batch -> PUT, verify -> commit
"""

import base64
import hashlib
import json
from typing import Any

from tests.server.models.hub import Handler, Hub

SMALL = 1_000  # bytes: larger files go to the LFS store, as do all that are no text


class PackHub(Hub):
    """One repository that can be written to with the token `admitted`, once it is created; `private` is what was asked.

    `refused` answers every upload so. A large file whose bytes are not those that were announced is refused.
    """

    admitted = "hf_secret"

    def __init__(self) -> None:
        super().__init__()
        self.RequestHandlerClass = PackHandler
        self.admitted = "hf_secret"
        self.private: bool | None = None
        self.refused: int | None = None
        self.stored: dict[str, bytes] = {}
        self.verified: list[str] = []


class PackHandler(Handler):
    server: PackHub

    def answer(self) -> None:
        self.path = self.path.replace("/resolve/main/", f"/resolve/{self.server.commit}/")
        super().answer()

    def do_PUT(self) -> None:  # noqa: N802
        self.server.requests.append(f"{self.command} {self.path}")
        content, oid = self.body(), self.path.rpartition("/")[2]
        if hashlib.sha256(content).hexdigest() != oid:
            return self.reply(400)
        self.server.stored[oid] = content
        return self.reply(200)

    def do_POST(self) -> None:  # noqa: N802
        self.server.requests.append(f"{self.command} {self.path}")
        content = self.body()
        if self.headers["Authorization"] != f"Bearer {self.server.admitted}":
            return self.reply(401, {"X-Error-Message": "Invalid credentials"})
        if self.server.refused:
            return self.reply(self.server.refused)
        return self.take(self.path.partition("?")[0], content)

    def take(self, path: str, content: bytes) -> None:
        name = self.server.repository
        if path == "/api/repos/create":
            return self.create(json.loads(content))
        if path == "/api/validate-yaml":
            return self.json({"errors": [], "warnings": []})
        if path == f"/api/models/{name}/preupload/main":
            return self.json({"files": [self.mode(one) for one in json.loads(content)["files"]]})
        if path == f"/{name}.git/info/lfs/objects/batch":
            return self.json(
                {"transfer": "basic", "objects": [self.place(one) for one in json.loads(content)["objects"]]}
            )
        if path == "/verify":
            self.server.verified.append(json.loads(content)["oid"])
            return self.json({})
        if path == f"/api/models/{name}/commit/main":
            return self.commit([json.loads(line) for line in content.splitlines()])
        return self.reply(404)

    def create(self, asked: dict[str, Any]) -> None:
        if f"{asked['organization']}/{asked['name']}" != self.server.repository:
            return self.reply(403)
        there = {"url": f"{self.server.url}/{self.server.repository}"}
        if self.server.private is not None:
            return self.json(there, 409)
        self.server.private = asked.get("visibility") == "private"
        return self.json(there)

    def mode(self, file: dict[str, Any]) -> dict[str, Any]:
        large = file["size"] > SMALL and not file["path"].endswith(".md")
        return {"path": file["path"], "uploadMode": "lfs" if large else "regular", "shouldIgnore": False, "oid": None}

    def place(self, asked: dict[str, Any]) -> dict[str, Any]:
        actions = {
            "upload": {"href": f"{self.server.url}/lfs/{asked['oid']}"},
            "verify": {"href": f"{self.server.url}/verify"},
        }
        return asked | ({} if asked["oid"] in self.server.stored else {"actions": actions})

    def commit(self, lines: list[dict[str, Any]]) -> None:
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                self.server.files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                self.server.files[value["path"]] = self.server.stored[value["oid"]]
        oid = hashlib.sha1(repr(sorted(self.server.files.items())).encode()).hexdigest()
        self.server.commit = oid
        self.json({"commitUrl": f"{self.server.url}/{self.server.repository}/commit/{oid}", "commitOid": oid})

    def body(self) -> bytes:
        if self.headers["Transfer-Encoding"] != "chunked":
            return self.rfile.read(int(self.headers["Content-Length"] or 0))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def json(self, value: dict[str, Any], status: int = 200) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
