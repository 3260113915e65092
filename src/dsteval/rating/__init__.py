"""Ratings by people: drawing conversations, agreement of raters, and of metrics with them."""
