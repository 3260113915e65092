"""The systems that a command is given: files of predictions, scored, and results that were saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from dsteval.cli.options import open_named, open_shown, say
from dsteval.cli.path_checks import typed
from dsteval.cli.progress import progress
from dsteval.errors import OptionError
from dsteval.pipeline.evaluation import evaluate
from dsteval.pipeline.inputs import check_names, system_name
from dsteval.pipeline.run import Run, Settings
from dsteval.readers import Source
from dsteval.results.result import Result
from dsteval.results.saved import is_saved, load, merge, recounted

__all__ = ["check_predictions", "merged", "named", "opened", "systems"]

_PATIENCE = 32 << 20  # bytes; files below take no time worth a progress bar


def systems(
    files: Sequence[str],
    ref: str | None,
    protocol: str,
    metrics: Sequence[str],
    by: Sequence[str],
    settings: Settings,
) -> list[Result]:
    """The result of every FILE: predictions are scored, saved results counted anew."""
    run = Run.of(protocol, **settings)
    run.resolved(metrics or None)  # a wrong name is told before anything is read
    reference = opened(ref, settings.get("ref_format"))
    results: list[Result] = []
    for name, path in named(files):
        source = open_shown(path)
        if is_saved(source):
            _check_saved(source, by, settings)
            loaded = [recounted(one, metrics or None, run.intervals) for one in load(source)]
            _check_protocol(source, loaded, protocol)
            results += [_called(loaded[0], name)] if len(loaded) == 1 and name else loaded
            continue
        say(source, settings.get("format"))
        size = sum(len(part.data) for part in source.parts)
        columns = ("SpinnerColumn", "{task.completed:.0f} dialogues", "TimeElapsedColumn")
        with progress(*columns, worth_it=size >= _PATIENCE, description=source.name, total=None) as update:
            results.append(
                evaluate(
                    reference,
                    source,
                    metrics=metrics or None,
                    protocol=protocol,
                    by=by,
                    name=name,
                    progress=None if update is None else partial(update, advance=1),
                    **settings,
                )
            )
    return results


def opened(ref: str | None, format: str | None) -> Source | None:
    """The reference, if one was named; what it was read as is said."""
    if ref is None:
        return None
    reference = open_shown(ref)
    say(reference, format)
    return reference


def merged(files: Sequence[str], name: str, metrics: Sequence[str], settings: Settings) -> Result:
    """One system out of saved results that are its parts. Raises OptionError for a FILE that is none."""
    run = Run.of(**settings)
    parts: list[Result] = []
    for path in files:
        source = open_shown(path)
        if not is_saved(source):
            expected = "a result that score -o PATH.json wrote"
            raise OptionError(where=f"--merge {name}, {source.name}", expected=expected, found="another file")
        _check_saved(source, (), {"errors": settings.get("errors", False)})
        parts += load(source)
    return recounted(merge(parts, name), metrics or None, run.intervals)


def _called(result: Result, name: str) -> Result:
    return replace(result, name=name)


def _check_saved(source: Source, by: Sequence[str], settings: Settings) -> None:
    """Raise OptionError for options that need the predictions again."""
    given = {
        "--by": by,
        "--set": settings.get("settings"),
        "--updates": settings.get("updates"),
        "--slots": settings.get("slots"),
        "--changes": settings.get("changes"),
        "--errors": settings.get("errors"),
    }
    odd = [name for name, value in given.items() if value]
    if odd:
        remedy = "Leave the option away, or score the predictions again."
        raise _only_counts(f"{source.name}, {', '.join(odd)}", remedy)


def check_predictions(source: Source, command: str) -> None:
    """Raise OptionError for a saved result, where a command needs the states themselves."""
    if is_saved(source):
        raise _only_counts(source.name, f"Give {command} the predictions themselves.")


def _only_counts(where: str, remedy: str) -> OptionError:
    found = "a saved result, of which only counts are left"
    return OptionError(where=where, expected="predictions", found=found, remedy=remedy)


def _check_protocol(source: Source, results: Sequence[Result], protocol: str) -> None:
    """Raise OptionError where a protocol was typed that is not the saved result's."""
    other = next((one for one in results if one.protocol.partition("@")[0] != protocol), None)
    if typed("protocol") and other is not None:
        expected = f"a result under protocol {protocol}"
        raise OptionError(where=source.name, expected=expected, found=f"one of {other.protocol}")


def named(files: Sequence[str]) -> list[tuple[str | None, str]]:
    """Name and path of every file; files of one name take their folder's along.

    Raises OptionError where two systems would still have one name.
    """
    found = [open_named(text) for text in files]
    plain = [name or system_name(Path(path).name) for name, path in found]
    for number, (name, path) in enumerate(found):
        if name is None and plain.count(plain[number]) > 1:
            found[number] = (f"{Path(path).absolute().parent.name}/{plain[number]}", path)
    final = [name or short for (name, _), short in zip(found, plain, strict=True)]
    check_names(final, "FILE")
    return found
