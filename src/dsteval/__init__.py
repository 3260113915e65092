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
    from dsteval.dialogue import Dialogue as Dialogue
    from dsteval.dialogue import Turn as Turn
    from dsteval.errors import DstevalError as DstevalError
    from dsteval.evaluation import evaluate as evaluate
    from dsteval.metrics.aga import AGA as AGA
    from dsteval.metrics.fga import FGA as FGA
    from dsteval.metrics.jga import JGA as JGA
    from dsteval.metrics.slot_accuracy import SlotAccuracy as SlotAccuracy
    from dsteval.metrics.slot_f1 import SlotF1 as SlotF1
    from dsteval.metrics.slot_precision import SlotPrecision as SlotPrecision
    from dsteval.metrics.slot_recall import SlotRecall as SlotRecall
    from dsteval.metrics.turn_f1 import TurnF1 as TurnF1
    from dsteval.metrics.turn_match import TurnMatch as TurnMatch
    from dsteval.result import Result as Result
    from dsteval.result import Score as Score

# Where each public name lives; imported when first used, so that `import dsteval` costs next to nothing.
_HOMES = {
    "AGA": "dsteval.metrics.aga",
    "Dialogue": "dsteval.dialogue",
    "DstevalError": "dsteval.errors",
    "FGA": "dsteval.metrics.fga",
    "JGA": "dsteval.metrics.jga",
    "Result": "dsteval.result",
    "Score": "dsteval.result",
    "SlotAccuracy": "dsteval.metrics.slot_accuracy",
    "SlotF1": "dsteval.metrics.slot_f1",
    "SlotPrecision": "dsteval.metrics.slot_precision",
    "SlotRecall": "dsteval.metrics.slot_recall",
    "Turn": "dsteval.dialogue",
    "TurnF1": "dsteval.metrics.turn_f1",
    "TurnMatch": "dsteval.metrics.turn_match",
    "evaluate": "dsteval.evaluation",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'dsteval' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
