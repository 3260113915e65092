"""The rules of known scorers for single values, one module a tool; loaded only by protocols that name them."""
