"""Nouns to text: tables, pages, plans, errors, progress; json, yaml, csv; colours from a theme."""
