"""``dsteval track``."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
from msgspec import structs

from dsteval import readers
from dsteval.cli import options as shared
from dsteval.cli.command import Command, option
from dsteval.cli.messages import failure, note
from dsteval.cli.output_files import emit
from dsteval.cli.path_checks import check_kept
from dsteval.cli.progress import progress
from dsteval.cli.values import DATA, FILE, TRACKER
from dsteval.dialogue import Dialogue, written_states
from dsteval.errors import foreign, printable, require
from dsteval.pipeline.evaluation import evaluate
from dsteval.pipeline.inputs import system_name
from dsteval.pipeline.run import Run
from dsteval.readers import Source
from dsteval.render.scores import scores_table, slice_tables
from dsteval.results.result import Result, document
from dsteval.track.dialogues import Material, gather
from dsteval.track.runs import TrackerRun, run
from dsteval.track.tracker import Loaded, option_values

CARD = ("SlotRecall", "JGA")
"""What the MultiWOZ 2.1 evaluation card asks for, its own order."""

_MISSING = "Dialogues on which the tracker failed: do not score, score as empty, or skip and list."
_COUNTS = "turns, {task.fields[dialogues]} dialogues, {task.fields[failures]} failures"
_LISTED = 20  # failures on stderr; --verbose writes all


_run_option = partial(option, group="Tracking")


@click.command(
    "track",
    cls=Command,
    examples=[
        ("Run the baseline tracker", "dsteval track multiwoz-2.4/test -o baseline.jsonl"),
        (
            "Run your own: the class or function Mine of my_tracker.py",
            "dsteval track multiwoz-2.4/test --tracker my_tracker:Mine -o mine.jsonl",
        ),
    ],
)
@click.argument("data", metavar="DATA", type=DATA)
@option(
    "--tracker",
    "name",
    default="baseline",
    metavar="NAME",
    type=TRACKER,
    show_default=True,
    help="Tracker: a name, see `dsteval list trackers`, or module:object.",
)
@option(
    "--tracker-option",
    "given",
    multiple=True,
    metavar="KEY=VALUE",
    help="Argument for the constructor of the tracker; may be repeated.",
)
@shared.out_option("Write predictions to this JSON Lines file.")
@shared.protocol_option
@shared.metric_option
@shared.by_option
@shared.missing_option(_MISSING)
@shared.as_option("Output format of the scores.")
@shared.quiet_option
@_run_option("--nested", is_flag=True, help="Write predicted states by domain.")
@_run_option("--timeout", type=float, metavar="SECONDS", help="Time limit for each turn.")
@_run_option("--restart", is_flag=True, help="Start over, even if the output file has predictions.")
@_run_option("--verbose", is_flag=True, help="Write tracebacks of failures to PATH.errors.log.")
@shared.format_option("DATA", "--ref-format", "--format", "format")
@shared.field_option()
@shared.setting_option
@shared.tables_options
@shared.slots_option
@option(
    "--schema",
    metavar="FILE",
    type=FILE,
    group=shared.INPUT,
    help="Schema of the services, for the tracker and for scoring.",
)
@shared.interval_options
def command(
    data: str, name: str, given: tuple[str, ...], out: str, format: str | None, verbose: bool, **options: Any
) -> None:
    """Run a tracker over the dialogues of DATA and score it.

    DATA is a file, a folder (FOLDER/test selects a split) or a data set such as multiwoz-2.1/test. Each dialogue
    is saved when it is finished; after an interruption, run the same command again to continue. Dialogues on which
    the tracker fails are listed, and the exit code is 1.
    """
    running = {name: options.pop(name) for name in ("nested", "timeout", "restart")}
    reading = readers.Options(ref_field=options.pop("ref_field"))
    settings = shared.arguments_of(options)
    slots, metrics, by = settings["slots"], settings.pop("metrics"), settings.pop("by")
    wanted = metrics or tuple(dict.fromkeys([*CARD, *Run.of(**settings).protocol.metrics.default]))
    score: Callable[..., Result] = partial(evaluate, metrics=wanted, by=by, **settings)
    _check_out(out, verbose)
    place = str(Path(out).absolute()) if Path(out).parent != Path() or _has_folder() else out
    source = shared.open_shown(data)
    shared.say(source, format)
    schema = Source.open(options["schema"]).data if options["schema"] else b""
    material = gather(source, format, reading, None if isinstance(slots, int) else slots, schema)
    if material.referenced:
        # What the scoring would refuse when a long run is over is told now: the reference stands in as prediction.
        score(None, map(_perfect, material.dialogues), name=material.name, ci=None)
    if name == "baseline" and not material.schema and not option_values(given).get("train"):
        hint = "finds no names without training data; add --tracker-option train=FILE (not the test set)"
        note(f"baseline: {hint}")
    columns = ("BarColumn", "MofNCompleteColumn", _COUNTS, "TimeRemainingColumn")
    bar = progress(*columns, total=material.turns, dialogues=0, failures=0)
    with _apart(), redirect_stdout(sys.stderr), bar as update:  # what a tracker prints is no result
        with foreign(f"--tracker {name}"):
            tracker = Loaded(name, option_values(given), {"schema": material.schema, "slots": material.slots})
        came = run(material, tracker, place, **running, progress=update)
    _tell(came, material, out, place, verbose)
    if came.interrupted:
        raise SystemExit(130)
    if _is_scored(came, material, settings["missing"]):
        result = _scored(came, material, place, score)
        tables = [scores_table([result], paper=not metrics), *slice_tables([result])]
        emit(tables, {**document([result]), "run": came.header}, remarks=result.notes)
    if came.failures:
        raise SystemExit(1)


def _check_out(out: str, verbose: bool) -> None:
    """Raise OptionError for a place that no run can go on from, or where another file would be lost."""
    place = Path(out)
    reasons = {
        "standard output": out == "-",
        "a folder": place.is_dir(),
        f"no folder {str(place.parent)!r}": not place.parent.is_dir(),
    }
    found = next((reason for reason, holds in reasons.items() if holds), "")
    require(not found, f"--out {out}", "a path for a file of predictions", found)
    for name in (out, f"{out}.run.json", f"{out}.errors.log"):
        check_kept(name, "data", "schema", "variants", "ontology", "slots", "protocol")
        usual = not os.path.lexists(name) or (Path(name).is_file() and not Path(name).is_symlink()) or name == out
        special = Path(name).exists() and not Path(name).is_file()
        require(usual and not special, f"--out {out}", "a regular file", f"{name}, which is not")
    log = Path(f"{out}.errors.log")
    own = not (verbose and log.exists()) or log.read_bytes()[:9] in (b"", b"dialogue ")
    expected, found = f"{log} from an earlier run", "another file of that name"
    require(own, f"--out {out}", expected, found, remedy="Choose another --out.")


def _has_folder() -> bool:
    """Whether there is a current folder: it may have been removed."""
    with suppress(OSError):
        return bool(Path.cwd())
    return False


@contextmanager
def _apart() -> Iterator[None]:
    """Keep what foreign code does from the results: it may change the current folder, and write to stdout."""
    folder = os.getcwd() if _has_folder() else None  # noqa: PTH109
    sys.stdout.flush()
    kept = None
    with suppress(OSError):
        kept = os.dup(1)
        os.dup2(2, 1)
    try:
        yield
    finally:
        if kept is not None:
            os.dup2(kept, 1)
            os.close(kept)
        if folder is not None:
            os.chdir(folder)


def _perfect(dialogue: Dialogue) -> Dialogue:
    states = written_states(dialogue, "ref") or [[] for _ in dialogue.turns]
    pairs = zip(dialogue.turns, states, strict=True)
    return structs.replace(dialogue, turns=[structs.replace(turn, pred=state) for turn, state in pairs])


def _tell(came: TrackerRun, material: Material, out: str, place: str, verbose: bool) -> None:
    """Print what the run did, and which dialogues failed."""
    failures, total = came.failures, len(material.dialogues)
    before = f" ({came.before} of them in an earlier run)" if came.before else ""
    note(f"{out}: {came.before + came.tracked} of {total} dialogues tracked{before}")
    for failed in failures[:_LISTED]:
        click.echo(printable(f"failed: {failed}"), err=True)
    if len(failures) > _LISTED:
        click.echo(f"failed: {len(failures) - _LISTED} more; --verbose writes all to {out}.errors.log", err=True)
    if failures and verbose:
        log = Path(f"{place}.errors.log")
        traces = "\n".join(f"{failed}\n{failed.trace}" for failed in failures)
        log.write_text(traces, "utf-8", "backslashreplace")
        note(f"{out}.errors.log: tracebacks of {len(failures)} failures")
    if came.interrupted:
        failure("Interrupted. Run the same command again to continue.")


def _is_scored(came: TrackerRun, material: Material, missing: str) -> bool:
    """Whether there is something to score; prints why not."""
    if not material.referenced:
        note(f"{material.name} has no reference: no scores")
        return False
    failed, total = len(came.failures), len(material.dialogues)
    if failed == total or (failed and missing == "error"):
        less = ", or score with --missing empty or --missing skip" if failed < total else ""
        failure(f"{failed} of {total} dialogues failed: no scores. Run again to retry them{less}.")
        return False
    return True


def _scored(came: TrackerRun, material: Material, out: str, score: Callable[..., Result]) -> Result:
    """The result of the file, just as ``score`` gives it; dialogues that failed are missing."""
    source = Source.open(out)
    name = system_name(source.name)
    if failed := {one.dialogue for one in came.failures}:
        tracked = [dialogue for dialogue in readers.read(source, "pred") if dialogue.id not in failed]
        result = replace(score(material.dialogues, tracked, name=name), source=source.name)
    else:
        result = score(None, source, name=name)
    tracker = came.header["tracker"]
    notes = [f"tracker {tracker['name']}#{tracker['hash']}, needs {', '.join(tracker['needs'])}"]
    if "ref-state" in tracker["needs"]:
        notes.append("teacher forcing: the tracker was given the reference state of the previous turn")
    return replace(result, notes=(*notes, *result.notes))
