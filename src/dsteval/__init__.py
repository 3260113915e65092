"""dsteval scores dialogue state tracking: every published rule under a name, next to one strict default.

>>> import dsteval
>>> result = dsteval.evaluate({"d": [{"hotel-area": "north"}]}, {"d": [{}]}, metrics=["JGA"])
>>> result["JGA"].value
0.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dsteval._version import __version__

if TYPE_CHECKING:
    from dsteval.comparison import Comparison as Comparison
    from dsteval.comparison import compare as compare
    from dsteval.dialogue import Dialogue as Dialogue
    from dsteval.dialogue import Turn as Turn
    from dsteval.errors import DstevalError as DstevalError
    from dsteval.evaluation import evaluate as evaluate
    from dsteval.explanation import explain as explain
    from dsteval.result import Result as Result
    from dsteval.result import Score as Score
    from dsteval.saved import load as load
    from dsteval.saved import merge as merge
    from dsteval.spreading import spread as spread

# Where each public name lives; imported when first used, so that `import dsteval` costs next to nothing. Every
# metric of the registry is a name of the package as well: dsteval.FGA @ 0.5.
_HOMES = {
    "Comparison": "dsteval.comparison",
    "Dialogue": "dsteval.dialogue",
    "DstevalError": "dsteval.errors",
    "Result": "dsteval.result",
    "Score": "dsteval.result",
    "Turn": "dsteval.dialogue",
    "compare": "dsteval.comparison",
    "evaluate": "dsteval.evaluation",
    "explain": "dsteval.explanation",
    "load": "dsteval.saved",
    "merge": "dsteval.saved",
    "spread": "dsteval.spreading",
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
