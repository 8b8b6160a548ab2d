"""Audits on Spark: the state of clusters as tables, controls as queries, findings with remedies."""
