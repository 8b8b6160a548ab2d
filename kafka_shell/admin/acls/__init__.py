"""ACLs, and what the authorizer decides from them."""
