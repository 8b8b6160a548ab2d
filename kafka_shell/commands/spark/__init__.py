"""Audits on Spark."""
