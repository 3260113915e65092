"""Metrics in the form of other libraries; each module needs its library, and is imported on request only."""
