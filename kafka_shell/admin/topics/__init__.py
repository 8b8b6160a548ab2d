"""Topics: read, create, alter, delete."""
