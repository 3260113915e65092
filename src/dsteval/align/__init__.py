"""Pairs references and predictions by dialogue and turn, and keeps account of what has no partner."""
