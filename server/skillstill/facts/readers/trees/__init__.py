"""JSON, YAML, TOML, XML, INI and build files as trees of values that know their lines.

    text -> parse_json, parse_yaml, ... -> Tree -> rows (readers/config, readers/project)

A damaged file gives the values up to the damage, and `Tree.damage` says what it was. Nothing recurses, no tag is
executed, no entity is expanded.
"""

from skillstill.facts.readers.trees.build_tree import parse_dockerfile, parse_makefile
from skillstill.facts.readers.trees.ini_tree import parse_environment, parse_ini, parse_properties
from skillstill.facts.readers.trees.json_tree import parse_json
from skillstill.facts.readers.trees.node import MAX_DEPTH, Node, Tree
from skillstill.facts.readers.trees.text import decoded, read_text
from skillstill.facts.readers.trees.toml_tree import parse_toml
from skillstill.facts.readers.trees.xml_tree import parse_xml
from skillstill.facts.readers.trees.yaml_tree import parse_yaml

__all__ = [
    "MAX_DEPTH",
    "Node",
    "Tree",
    "decoded",
    "parse_dockerfile",
    "parse_environment",
    "parse_ini",
    "parse_json",
    "parse_makefile",
    "parse_properties",
    "parse_toml",
    "parse_xml",
    "parse_yaml",
    "read_text",
]
