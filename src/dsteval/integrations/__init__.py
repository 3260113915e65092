"""Metrics in the form that other libraries ask for; each module needs its library, and nothing imports it unasked."""
