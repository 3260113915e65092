"""Fails where a test was skipped that .ci/skips does not list: `NAME OF THE TEST: reason`, one a line.

A name may hold * for a group of tests.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from fnmatch import fnmatch
from pathlib import Path


def main(report: str, listed: str) -> int:
    """Compare the skips of a JUnit report with the list; 1 if any is not in it."""
    lines = [line for line in Path(listed).read_text(encoding="utf-8").splitlines() if line.strip()]
    allowed = {line.partition(": ")[0] for line in lines if not line.startswith("#")}
    cases = ElementTree.parse(report).getroot().iter("testcase")
    skipped = {f"{case.get('classname')}.{case.get('name')}" for case in cases if case.find("skipped") is not None}
    unlisted = sorted(name for name in skipped if not any(fnmatch(name, pattern) for pattern in allowed))
    for name in unlisted:
        print(f"skipped, and not in {listed}: {name}", file=sys.stderr)
    return 1 if unlisted else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
