"""Consumer, share and streams groups."""
