"""Helpers for tests of tools' own files: the command line, reading, and the story that many files tell."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import commandline
from commandline import Ran, run
from dsteval import readers
from dsteval.dialogue import Choice, Dialogue, Items, Side, Turn, canonical_id
from dsteval.errors import DstevalError
from dsteval.readers import Source

FORMATS = Path(__file__).parent / "formats"


def done(*arguments: str | Path, stdin: bytes = b"") -> Ran:
    """The command, which must succeed."""
    ran = run(*arguments, stdin=stdin)
    assert ran.code == 0, ran.err
    return ran


def refusal(*arguments: str | Path, stdin: bytes = b"") -> str:
    """The one sentence with which the command refuses; nothing is on stdout."""
    return commandline.refusal(run(*arguments, stdin=stdin))


def read(path: Path | str, side: Side = "pred", name: str | None = None, **options: Any) -> list[Dialogue]:
    """The dialogues of a file."""
    return list(readers.read(Source.open(path), side, name, readers.Options(**options)))


def refused(path: Path | str, **options: Any) -> str:
    """The sentence with which reading a file is refused, as the command line has it."""
    try:
        read(path, **options)
    except DstevalError as error:
        return error.command_line
    raise AssertionError(f"{path} was read")


def written(path: Path, content: str | bytes) -> Path:
    """A file with that content, its folder made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def files(folder: Path, ref: Any, pred: Any) -> list[str]:
    """The arguments that score ``pred`` against ``ref``, given as JSON, by JGA."""
    pred_path = written(folder / "pred.json", json.dumps(pred))
    return [
        "score",
        str(pred_path),
        "--ref",
        str(written(folder / "ref.json", json.dumps(ref))),
        "--metric",
        "JGA",
    ]


def system(*arguments: str | Path) -> dict[str, Any]:
    """The JSON of the first system that a command scores."""
    found: dict[str, Any] = json.loads(done(*arguments, "--as", "json").out)["systems"][0]
    return found


def counted(found: dict[str, Any]) -> tuple[int, int]:
    """Count and total of a system's first score."""
    return found["scores"][0]["count"], found["scores"][0]["total"]


def items(text: str) -> Items:
    """``"hotel-area=north; hotel-stars="`` as items; '+' stands between the texts of a list, or after the only."""
    found: Items = []
    for pair in text.split("; ") if text else []:
        slot, _, value = pair.partition("=")
        found.append((slot, tuple(value.removesuffix("+").split("+")) if "+" in value else value))
    return found


TEXTS = {
    "MUL9001.json": [
        ("", "a room in the north please"),
        ("which one ?", "the rose-garden-house , any stars"),
        ("done .", "a train too"),
    ],
    "PMUL9002.json": [("", "a train on friday"), ("from where ?", "forget it")],
}
REF = {
    "MUL9001.json": [
        "hotel-area=north",
        "hotel-area=north; hotel-name=rose-garden-house; hotel-stars=dontcare",
        "hotel-area=north; hotel-name=rose-garden-house; hotel-stars=dontcare; train-day=none",
    ],
    "PMUL9002.json": ["train-day=friday", ""],
}
PRED = {
    "MUL9001.json": [
        "",
        "hotel-area=north; hotel-name=rose-garden; hotel-stars=do n't care",
        "hotel-area=north; hotel-name=rose-garden-house; hotel-stars=none; train-day=not mentioned",
    ],
    "PMUL9002.json": ["train-day=friday", "train-day=friday"],
}
STORY_SCORES = {"JGA": (1, 5), "TurnMatch": (2, 5), "SlotF1": (10, 15), "SlotRecall": (5, 8)}
"""Count and total of the story under protocol exact, whatever the file."""


def story(
    system: bool = False,
    user: bool = False,
    numbers: tuple[tuple[int, ...], ...] = ((0, 1, 2), (0, 1)),
    gaps: bool = False,
    lower: bool = False,
) -> list[Dialogue]:
    """The dialogues of a file that tells the story, with those of its texts that the format holds.

    ``lower`` is for formats that write the names of dialogues in lower case and without ``.json``.
    """
    found = []
    for name, keys in zip(REF, numbers, strict=True):
        turns = [
            Turn(key, items(ref), items(pred), said[0] if system else None, said[1] if user else None)
            for key, ref, pred, said in zip(keys, REF[name], PRED[name], TEXTS[name], strict=True)
        ]
        found.append(Dialogue(canonical_id(name) if lower else name, turns, gaps=gaps))
    return found


def updated(dialogues: list[Dialogue], *updates: str) -> list[Dialogue]:
    """The dialogues with what the tracker changed at each of their turns, one after the other."""
    turns = [turn for dialogue in dialogues for turn in dialogue.turns]
    for turn, update in zip(turns, updates, strict=True):
        turn.pred_update = items(update)
    return dialogues


def chosen(dialogues: list[Dialogue], *choices: str) -> list[Dialogue]:
    """The dialogues as TripPy writes them: every slot on both sides, and ``"kind value"`` chosen for each."""
    turns = [turn for dialogue in dialogues for turn in dialogue.turns]
    for turn, text in zip(turns, choices, strict=True):
        turn.choices = [Choice(slot, *str(choice).split(" ", 1)) for slot, choice in items(text)]
        for state in (turn.ref, turn.pred):
            assert state is not None
            held = dict(state)
            state[:] = [(choice.slot, held.get(choice.slot, "none")) for choice in turn.choices]
    return dialogues


@dataclass(frozen=True)
class Sample:
    """A file, the reader that it is recognised by, and its dialogues; ``both`` tells whether it has both sides."""

    path: str
    reader: str
    dialogues: list[Dialogue]
    both: bool = True
    protocol: str = "exact"

    def __str__(self) -> str:
        return self.path

    @property
    def place(self) -> Path:
        """Where it lies."""
        return FORMATS / self.path

    @property
    def files(self) -> dict[str, bytes]:
        """The files themselves."""
        found = sorted(self.place.iterdir()) if self.place.is_dir() else [self.place]
        return {path.name: path.read_bytes() for path in found}

    @property
    def data(self) -> tuple[str, bytes]:
        """The name and the content of the first file of data."""
        return next(
            (name, data) for name, data in self.files.items() if name[:6] not in ("README", "dialogues_and")
        )


def named(samples: list[Sample], path: str) -> Sample:
    """The sample at that path."""
    return next(sample for sample in samples if sample.path == path)
