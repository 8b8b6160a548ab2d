"""Tests of kafka_shell.output."""
