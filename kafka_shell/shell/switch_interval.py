"""What keeps the prompt awake while another thread of the same interpreter reads the cluster."""

from __future__ import annotations

import gc
import sys

_SWITCH_S = 0.001


def stay_awake() -> None:
    """Once, when the prompt begins: key presses wait a millisecond for their turn instead of five,
    and the collector does not walk through all that was imported."""
    sys.setswitchinterval(_SWITCH_S)
    gc.freeze()
