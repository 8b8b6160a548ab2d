"""Commands of the program itself: help, history, journal, undo, sandbox."""
