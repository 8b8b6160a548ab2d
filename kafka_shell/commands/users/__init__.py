"""Commands on users and SCRAM credentials."""
