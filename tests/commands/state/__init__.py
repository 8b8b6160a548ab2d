"""State files."""
