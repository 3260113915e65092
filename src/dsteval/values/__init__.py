"""What is done to slots and values before they are compared, each thing under a name."""
