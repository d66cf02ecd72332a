"""The toolset of the sandbox. A skill opts in by naming one of its tools."""

from skillstill.tools.box.commands import python, shell
from skillstill.tools.box.edits import edit, write
from skillstill.tools.box.suspects import suspects
from skillstill.tools.box.testing import run_tests
from skillstill.tools.kit.tool import tool

TOOLS = tuple(tool(one, executes=True) for one in (shell, python, write, edit, run_tests, suspects))
