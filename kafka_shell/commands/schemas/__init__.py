"""Commands on subjects of a schema registry."""
