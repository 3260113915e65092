"""What ``compare`` can add to its tables, and what it can do instead: runs, two references, rankings, plans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from dsteval.analysis.rankings import discriminative_power, over_lambda, over_protocols, over_resamples
from dsteval.analysis.reference_change import two_references
from dsteval.analysis.sample_size import plan
from dsteval.analysis.seed_runs import repeated
from dsteval.cli.options import OneOf, open_named, open_shown
from dsteval.cli.systems import check_predictions, named, systems
from dsteval.errors import OptionError
from dsteval.pipeline.inputs import system_name
from dsteval.pipeline.run import Settings
from dsteval.readers import Source
from dsteval.render import rankings as tables_of
from dsteval.render.table import Table
from dsteval.results.result import SCHEMA, Result
from dsteval.stats.intervals import Intervals

__all__ = ["added", "beyond_options", "runs", "two_refs"]

F = TypeVar("F", bound=Callable[..., Any])

OVER = ("lambda", "protocols", "resamples")


def beyond_options(command: F) -> F:
    """The options that ask for them."""
    option = click.option
    for one in reversed(
        [
            option("--over", multiple=True, type=OneOf("--over", OVER), help="Who leads, over what."),
            option("--discriminate", is_flag=True, help="The share of pairs that each metric separates."),
            option("--power", is_flag=True, help="Dialogues that are needed to tell the systems apart."),
            option("--difference", type=float, metavar="POINTS", help="With --power: the difference to be told."),
            option("--runs", is_flag=True, help="The FILEs are runs of one system: mean, deviation, agreement."),
        ]
    ):
        command = one(command)
    return command


def added(
    results: Sequence[Result],
    files: Sequence[str],
    ref: str | None,
    metrics: Sequence[str],
    settings: Settings,
    wanted: dict[str, Any],
) -> tuple[list[Table], dict[str, Any]]:
    """The tables that were asked for beside the comparison, and what they add to its JSON."""
    intervals, chosen = Intervals.of_settings(settings), metrics or None
    tables: list[Table] = []
    document: dict[str, Any] = {}
    if "lambda" in wanted["over"]:
        by_lambda = over_lambda(results)
        tables += tables_of.lambda_tables(by_lambda)
        document["over_lambda"] = by_lambda.to_dict()
    if "protocols" in wanted["over"]:
        sources = {name or system_name(Path(path).name): open_shown(path) for name, path in named(files)}
        for source in sources.values():
            check_predictions(source, "--over protocols")
        reference = None if ref is None else open_shown(ref)
        by_protocol = [over_protocols(reference, sources, one, **settings) for one in metrics or ["JGA"]]
        for one in by_protocol:
            tables += tables_of.protocol_tables(one)
        document["over_protocols"] = [one.to_dict() for one in by_protocol]
    if "resamples" in wanted["over"]:
        by_resample = over_resamples(results, chosen, intervals)
        tables += tables_of.resample_tables(by_resample)
        document["over_resamples"] = by_resample.to_dict()
    if wanted["discriminate"]:
        separated = discriminative_power(results, chosen, intervals)
        tables += tables_of.discrimination_tables(separated)
        document["discrimination"] = separated.to_dict()
    if wanted["power"]:
        points = wanted["difference"]
        scales = {text: metric.scale for text, metric in results[0].metrics.items()}
        asked = None if points is None else {text: points / scale for text, scale in scales.items()}
        planned = plan(results, chosen, intervals, asked)
        tables += tables_of.plan_tables(planned)
        document["plan"] = planned.to_dict()
    elif wanted["difference"] is not None:
        raise OptionError(where="--difference", expected="--power, which it is for", found="none")
    return tables, document


def runs(
    files: Sequence[str], ref: str | None, protocol: str, metrics: Sequence[str], settings: Settings
) -> tuple[list[Table], dict[str, Any]]:
    """Runs of one system side by side."""
    found = repeated(systems(files, ref, protocol, metrics, (), {**settings, "ci": None}), metrics or None)
    return tables_of.repeats_tables(found), {"schema": SCHEMA, "runs": found.to_dict()}


def two_refs(
    files: Sequence[str],
    refs: Sequence[str],
    fields: Sequence[str],
    protocol: str,
    metrics: Sequence[str],
    settings: Settings,
    everything: bool,
) -> tuple[list[Table], dict[str, Any]]:
    """One system against two references: two of ``--ref``, or two of ``--ref-field`` of one file.

    Raises OptionError for another number of systems or references.
    """
    given = (*refs, *fields)
    if len(files) != 1 or (len(refs), len(fields)) not in ((2, 0), (2, 1), (2, 2), (1, 2), (0, 2)):
        raise OptionError(
            where="--ref, --ref-field",
            expected="one FILE and two references: --ref A --ref B, or --ref-field A --ref-field B of one file",
            found=f"{len(files)} FILE and {', '.join(given)}",
        )
    pairs = [open_named(one) for one in refs]
    labels = [name or path for name, path in pairs] if len(refs) == 2 else list(fields)
    if labels[0] == labels[1]:
        raise OptionError(where="--ref", expected="two references", found=f"{labels[0]!r} twice")
    opened = [open_shown(path) for _, path in pairs]
    sides: list[Source | None] = [*opened] if len(opened) == 2 else [opened[0] if opened else None] * 2
    name, path = open_named(files[0])
    own = dict(zip(labels, fields if len(fields) == 2 else [*fields] * 2, strict=True)) if fields else None
    found = two_references(
        open_shown(path),
        dict(zip(labels, sides, strict=True)),
        metrics=metrics or None,
        protocol=protocol,
        ref_fields=own,
        name=name,
        **settings,
    )
    tables = tables_of.reference_tables(found, None if everything else 20)
    return tables, {"schema": SCHEMA, "references": found.to_dict()}
