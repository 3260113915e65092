"""The systems that a command is given: files of predictions, scored, and results that were saved."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from dsteval.cli.options import open_named, open_shown, say
from dsteval.cli.path_checks import typed
from dsteval.errors import OptionError, require
from dsteval.pipeline.evaluation import evaluate
from dsteval.pipeline.inputs import check_names, system_name
from dsteval.pipeline.run import Run
from dsteval.pipeline.workers import can_run, number_of_workers, run_all, shares_of
from dsteval.readers import Source
from dsteval.results.result import Result
from dsteval.results.saved import is_saved, load, merge, recounted


def systems(
    files: Sequence[str],
    ref: str | None,
    arguments: dict[str, Any],
    *,
    outcomes: bool = True,
    workers: int | str = 1,
) -> list[Result]:
    """The result of every FILE: predictions are scored with some arguments, saved results counted anew."""
    metrics, protocol, run = arguments["metrics"], arguments["protocol"], _run(arguments)
    run.resolved(metrics)  # a wrong name is told before anything is read
    reference = opened(ref, arguments["ref_format"])
    number = number_of_workers(workers)
    # One after the other, each file is let go before the next is read.
    together = number > 1 and len(files) > 1 and can_run
    results: list[Result | None] = []
    waiting: dict[int, partial[Result]] = {}
    for name, path in named(files):
        source = open_shown(path)
        if is_saved(source):
            _check_saved(source, "by", "settings", "updates", "slots", "changes", "errors", "turns", "keep_going")
            if arguments.get("errors"):
                raise _only_counts(source.name, "Give the predictions themselves.")
            loaded = [recounted(one, metrics, run.intervals) for one in load(source)]
            other = next((one.protocol for one in loaded if one.protocol.partition("@")[0] != protocol), None)
            fits = other is None or not typed("protocol")
            require(fits, source.name, f"a result under protocol {protocol}", f"one of {other}")
            results += [replace(loaded[0], name=name)] if len(loaded) == 1 and name else loaded
            continue
        say(source, arguments["format"])
        task = partial(evaluate, reference, source, **{**arguments, "name": name, "outcomes": outcomes})
        if together:
            waiting[len(results)] = task
        results.append(None if together else task(workers=number))
    for place, result in zip(waiting, _together(list(waiting.values()), number), strict=True):
        results[place] = result
    return [result for result in results if result is not None]


def _together(tasks: Sequence[partial[Result]], number: int) -> Iterator[Result]:
    """The result of each file, several scored at the same time; where one is refused, this process says why."""
    sources = [task.args[1] for task in tasks]
    shown = next((source.parts[0].heard for source in sources), None)
    found = run_all([partial(task, workers=1) for task in tasks], number, shown and shares_of(sources, shown))
    for task, result in zip(tasks, found, strict=True):
        yield task(workers=1) if result is None else result


def _run(arguments: dict[str, Any]) -> Run:
    return Run.of(**{name: value for name, value in arguments.items() if name not in ("metrics", "by")})


def opened(ref: str | None, format: str | None) -> Source | None:
    """The reference, if one was named; what it was read as is said."""
    reference = open_reference(ref)
    if reference is not None:
        say(reference, format)
    return reference


def open_reference(ref: str | None) -> Source | None:
    """The reference, if one was named."""
    return None if ref is None else open_shown(ref)


def merged(files: Sequence[str], name: str, arguments: dict[str, Any]) -> Result:
    """One system out of saved results that are its parts. Raises OptionError for a FILE that is none."""
    run = _run(arguments)
    parts: list[Result] = []
    for path in files:
        source = open_saved(path, f"--merge {name},")
        _check_saved(source, "errors")
        parts += load(source)
    return recounted(merge(parts, name), arguments["metrics"], run.intervals)


def open_saved(path: str, where: str) -> Source:
    """A saved result. Raises OptionError for another file."""
    source = open_shown(path)
    expected = "a result saved by score -o PATH.json"
    require(is_saved(source), f"{where} {source.name}", expected, "another file")
    return source


def _check_saved(source: Source, *names: str) -> None:
    """Raise OptionError where options were typed that need the predictions again."""
    if needing := typed(*names):
        remedy = "Drop the option, or score the predictions again."
        raise _only_counts(f"{source.name}, {', '.join(needing)}", remedy)


def predictions(file: str, command: str) -> tuple[str | None, Source]:
    """The name, if there is one, and the source of a FILE, as ``check_predictions`` allows it."""
    name, path = open_named(file)
    source = open_shown(path)
    check_predictions(source, command)
    return name, source


def check_predictions(source: Source, command: str) -> None:
    """Raise OptionError for a saved result, where a command needs the states themselves."""
    if is_saved(source):
        raise _only_counts(source.name, f"Run {command} on the predictions instead.")


def _only_counts(where: str, remedy: str) -> OptionError:
    found = "a saved result, which holds counts only"
    return OptionError(where=where, expected="predictions", found=found, remedy=remedy)


def named(files: Sequence[str]) -> list[tuple[str | None, str]]:
    """Name and path of every file; files of one name take their folder's along.

    Raises OptionError where two systems would still have one name.
    """
    pairs = [open_named(text) for text in files]
    plain = [name or system_name(Path(path).name) for name, path in pairs]
    for number, (name, path) in enumerate(pairs):
        if name is None and plain.count(plain[number]) > 1:
            pairs[number] = (f"{Path(path).absolute().parent.name}/{plain[number]}", path)
    check_names([name or short for (name, _), short in zip(pairs, plain, strict=True)], "FILE")
    return pairs
