"""`rehearse`: run a script on a twin of the cluster."""
