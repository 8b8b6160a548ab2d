"""The sections of state files: one module for each kind of resources."""
