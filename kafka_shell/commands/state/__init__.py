"""The state of a cluster as a file: export, diff, apply."""
