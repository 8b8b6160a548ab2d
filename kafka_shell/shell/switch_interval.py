"""Keep the prompt responsive while another thread reads the cluster."""

from __future__ import annotations

import gc
import sys

_SWITCH_S = 0.001
_GC_THRESHOLD = 20_000  # collections of a few milliseconds


def reduce_latency() -> None:
    """Set the thread switch interval to 1 ms, and keep garbage collections short: imported modules
    are excluded from them."""
    sys.setswitchinterval(_SWITCH_S)
    gc.set_threshold(_GC_THRESHOLD)
    gc.freeze()
