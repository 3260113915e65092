"""Metrics, one file each: what is counted per dialogue, and the value of a sum of such counts.

The registry walks this folder; others add metrics by entry points of the group ``dsteval.metrics``.
"""

import sys

from dsteval.errors import MetricError, unknown
from dsteval.metrics.base import Metric, Parameter
from dsteval.metrics.counting import Counts, total
from dsteval.metrics.text import HEADINGS, split
from dsteval.protocols.model import Protocol
from dsteval.registry import Registry, instances

__all__ = ["METRICS", "Counts", "Metric", "Parameter", "find", "names", "parse", "total", "under"]


def _bundled() -> dict[str, Metric]:
    metrics = instances(sys.modules[__name__], Metric)
    return {metric.name: metric for metric in metrics if metric == type(metric)()}


METRICS: Registry[Metric] = Registry("metrics", _bundled)

names = METRICS.names
"""The names of all available metrics."""


def find(name: str) -> Metric:
    """The metric of that name, without parameters. Raises MetricError where there is none."""
    metric = METRICS.get(name)
    if isinstance(metric, Metric):
        return metric
    if (meant := HEADINGS.get(name.upper())) is not None:
        raise MetricError(f"Unknown metric {name!r}. Did you mean {meant!r}? See: dsteval list metrics.")
    raise MetricError(unknown("metric", name, names(), "dsteval list metrics"))


def under(metric: Metric, protocol: Protocol) -> Metric:
    """What a metric means under a protocol: another metric, or the protocol's parameters where none was typed."""
    own = protocol.metrics
    if metric.name in own.means:
        metric = find(own.means[metric.name])(**dict(metric.given))
    return metric.resolve(own.parameters.get(metric.name, {}))


def parse(metric: str | Metric) -> Metric:
    """The metric that a text names: ``Name``, ``Name@number`` or ``Name(key=value,...)@number``; or itself.

    >>> parse("FGA(variant=strict)@0.50")
    FGA(variant=strict)@0.5

    Raises MetricError for an unknown name or parameter, a number that is missing or not allowed, and what is no
    metric.
    """
    if isinstance(metric, str):
        name, parameters, number = split(metric)
        metric = find(name)(**parameters)
        if number is not None:
            metric = metric @ number
    if not isinstance(metric, Metric):
        raise MetricError(
            where="metrics",
            expected="names of metrics, such as FGA@0.5, or Metric objects",
            found=f"a {type(metric).__name__}",
            remedy="A metric of your own is a subclass of dsteval.metrics.Metric.",
        )
    return metric.checked()
