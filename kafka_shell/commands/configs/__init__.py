"""Commands on configs."""
