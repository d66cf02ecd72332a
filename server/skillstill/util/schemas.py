"""The schema of a value as a model is told it."""

from typing import Any

from pydantic import BaseModel


def lean_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a flat model, without titles and our own docstring: a model pays for each word."""
    schema = model.model_json_schema()
    properties = {
        name: {key: value for key, value in field.items() if key != "title"}
        for name, field in schema["properties"].items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": schema.get("required", []),
        "additionalProperties": False,
    }
