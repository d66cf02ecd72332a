"""What builds and runs a project: base images, actions of workflows, makefile targets."""

import re

from skillstill.facts.readers.project.findings import Findings, lines_of
from skillstill.facts.readers.trees import Node, decoded, parse_dockerfile, parse_makefile, parse_yaml

_IMAGE = re.compile(r"([^@\s]+?)(?::([\w${}.-]+))?(@\S+)?")
_COPIED = re.compile(r"--from=(\S+)")


def read_dockerfile(_name: str, data: bytes) -> Findings:
    found, root = Findings("docker"), parse_dockerfile(decoded(data)).root
    stages = {name for name, node in root.children if node.type == "object"}
    for part in [root, *(node for node in root.values() if node.type == "object")]:
        for name, node in part.children:
            copied = _COPIED.search(node.text) if name == "COPY" else None
            words = [word for word in node.text.split() if not word.startswith("--")] if name == "FROM" else []
            image = words[0] if words else copied[1] if copied else ""
            if image and image not in stages and image != "scratch" and not image.isdigit():
                _take_image(found, node, image, name)
    found.dependencies.sort(key=lambda row: int(str(row[0])))
    return found


def _take_image(found: Findings, node: Node, image: str, section: str) -> None:
    match = _IMAGE.fullmatch(image)
    name, tag, digest = match.groups() if match is not None else (image, None, None)
    version = f"{tag or ''}{digest or ''}" or None
    found.add_dependency(lines_of(node), name, version, "build" if section != "image" else "runtime", section)


def read_compose(_name: str, data: bytes) -> Findings:
    found = Findings("docker")
    for document in parse_yaml(decoded(data)).documents:
        for service in document.at("services").values():
            image = service.child("image")
            if image is not None and image.text:
                _take_image(found, image, image.text, "image")
    return found


def read_workflow(_name: str, data: bytes) -> Findings:
    """Read the actions that the jobs of a workflow, or the steps of a composite action, use."""
    found, tree = Findings("actions"), parse_yaml(decoded(data))
    root = tree.root
    for job, node in [*root.at("jobs").children, ("runs", root.at("runs"))]:
        for step in [node, *node.at("steps").values()]:
            used = step.child("uses")
            if used is not None and used.text:
                name, _, version = used.text.partition("@")
                found.add_dependency(lines_of(used), name, version or None, "build", job)
    if tree.damage:
        found.gaps.append(("", tree.damage))
    return found


def read_makefile(_name: str, data: bytes) -> Findings:
    """Read the targets that have a recipe and are no files made by pattern, as commands."""
    found = Findings("make")
    for name, node in parse_makefile(decoded(data)).root.children:
        if node.type == "target" and node.children and not re.search(r"[%$/.]", name):
            found.add_script(lines_of(node), name, node.children[0][1].text)
    return found
