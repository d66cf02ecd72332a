"""A large model for one attempt: what it uses is counted, and becomes a line of the ledger."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime

from skillstill.models.remote import Sampling

from skillstill_training.teachers.large_models import LargeModel, Priced
from skillstill_training.teachers.ledger import Ledger, LedgerEntry, Purpose, sum_usage
from skillstill_training.teachers.retries import RetryingModel, RetryPolicy


@asynccontextmanager
async def open_metered(
    model: LargeModel,
    ledger: Ledger,
    retries: RetryPolicy,
    sampling: Sampling,
    *,
    purpose: Purpose,
    goal: str,
    sample: int = 0,
) -> AsyncIterator[RetryingModel]:
    """Return the model for one attempt. Once it is closed, and has told its cost, that goes into the ledger."""
    async with AsyncExitStack() as stack:
        opened = await stack.enter_async_context(model.open(sampling, seconds=retries.request, usd=ledger.usd_left))
        retrying = RetryingModel(opened, ledger, retries)
        try:
            yield retrying
        finally:
            await stack.aclose()
            usage = sum_usage(retrying.usages)
            ledger.write(
                LedgerEntry(
                    when=datetime.now(UTC),
                    teacher=model.name,
                    purpose=purpose,
                    goal=goal,
                    sample=sample,
                    requests=len(retrying.usages),
                    prompt=usage.prompt,
                    cached=usage.reused,
                    completion=usage.completion,
                    usd=opened.usd if isinstance(opened, Priced) else None,
                )
            )
