"""SCRAM credentials, and everything about one user."""
