"""Changes as values: what would change, carrying it out, and the commands that undo it."""
