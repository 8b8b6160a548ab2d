"""Keep the prompt responsive while another thread reads the cluster."""

from __future__ import annotations

import gc
import sys

_SWITCH_S = 0.001


def reduce_latency() -> None:
    """Set the thread switch interval to 1 ms, and exclude imported modules from garbage
    collection."""
    sys.setswitchinterval(_SWITCH_S)
    gc.freeze()
