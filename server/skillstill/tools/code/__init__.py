"""The tools that know source code: where a name is defined, what a file holds, which definition is meant."""
