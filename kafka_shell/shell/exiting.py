"""End the program while prompt_toolkit has the terminal."""

from __future__ import annotations

import sys

from prompt_toolkit.application.current import get_app_or_none


def exit_application(status: int) -> None:
    """Raise SystemExit in what is running: the prompt, a question or `top`, or else here."""
    app = get_app_or_none()
    if app is None or app.loop is None or not app.is_running:
        sys.exit(status)
    error = SystemExit(status)
    app.loop.call_soon_threadsafe(lambda: app.exit(exception=error))
