"""What an evaluation returns: scores with their counts, saved and loaded, as dictionaries and HTML."""
