"""Scoring from end to end: open, read, align, prepare, compare, count."""
