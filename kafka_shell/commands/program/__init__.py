"""Commands of the program itself: help, history, journal, sandbox."""
