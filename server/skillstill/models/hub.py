"""What each of our calls to huggingface_hub has in common: where the hub is, and a failure as a text of our own."""

import os


def hub_endpoint() -> str:
    """Return the hub's address, read now; from here on the library sends no telemetry."""
    from huggingface_hub import constants  # 0.2 s

    # Else each call, an offline one too, fetches a list of coding agents and tells the hub which one runs.
    constants.HF_HUB_DISABLE_TELEMETRY = True
    return (os.environ.get("HF_ENDPOINT") or constants.ENDPOINT).rstrip("/")


def plain_error(error: BaseException) -> str:
    """Return `TypeName (detail)`, from the first line, without the addresses that the library's own texts contain."""
    line = next(iter(str(error).splitlines()), "")
    detail = "" if "://" in line or not line else f" ({line.rstrip('.')})"
    return f"{type(error).__name__}{detail}"
