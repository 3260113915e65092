"""dsteval scores dialogue state tracking: every published rule under a name, next to one strict default.

>>> import dsteval
>>> result = dsteval.evaluate({"d": [{"hotel-area": "north"}]}, {"d": [{}]}, metrics=["JGA"])
>>> result["JGA"].value
0.0
"""

from importlib import import_module
from typing import Any

from dsteval._version import __version__

# Where each public name lives; imported when first used, so that `import dsteval` costs next to nothing. Every
# metric of the registry is a name of the package as well: dsteval.FGA @ 0.5. Type checkers read __init__.pyi.
_HOMES = {
    "Comparison": "dsteval.analysis.comparison",
    "Dialogue": "dsteval.dialogue",
    "DstevalError": "dsteval.errors",
    "Result": "dsteval.results.result",
    "Score": "dsteval.results.result",
    "Scorer": "dsteval.pipeline.scorer",
    "Turn": "dsteval.dialogue",
    "compare": "dsteval.analysis.comparison",
    "evaluate": "dsteval.pipeline.evaluation",
    "explain": "dsteval.analysis.explanation",
    "load": "dsteval.results.saved",
    "merge": "dsteval.results.saved",
    "read": "dsteval.pipeline.dialogue_files",
    "spread": "dsteval.analysis.protocol_spread",
    "write": "dsteval.pipeline.dialogue_files",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name[:1].isupper() and name in (metrics := import_module("dsteval.metrics")).names():
        value = metrics.find(name)
    else:
        raise AttributeError(f"module 'dsteval' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *import_module("dsteval.metrics").names()})
