"""Run lines: one, a script, or repeatedly; execute the plans they make; complete them in bash."""
