"""What came of every turn: the table that metrics, slices and error records read."""
