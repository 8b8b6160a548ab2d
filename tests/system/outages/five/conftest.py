"""Five brokers for this folder."""

from tests.support.lending import lender_of_five as lender

__all__ = ["lender"]
