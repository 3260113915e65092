"""Running a tracker over data: what a tracker is, the run that loses nothing, and the bundled baseline."""

from dsteval.track.tracker import Tracker, Update

__all__ = ["Tracker", "Update"]
