"""Nouns to text: tables, pages, plans, errors, progress; json, yaml, csv; colors from a theme."""
