"""Three brokers for this folder."""

from tests.support.lending import lender_of_three as lender

__all__ = ["lender"]
