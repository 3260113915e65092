"""Inputs that were scored wrongly, in silence or with wrong advice, by the commands that stand beside them."""

import gzip
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from commandline import Ran, run
from shared.figures import Folder

pytestmark = pytest.mark.shared


def commands(place: Path) -> list[list[str]]:
    """The command lines of the folder, without ``dsteval``: what stands in ``cmd``, or first in README."""
    if (place / "cmd").exists():
        text = (place / "cmd").read_text().split("#")[0]
        return [shlex.split(line)[1:] for line in text.strip().split(";")]
    found = re.match(r"dsteval (.*?): ", (place / "README").read_text())
    assert found is not None
    return [shlex.split(found[1])]


def system(ran: Ran) -> dict[str, Any]:
    assert ran.code == 0, ran.err
    scored: dict[str, Any] = json.loads(ran.out)["systems"][0]
    return scored


def scores(arguments: list[str], *more: str) -> dict[str, float]:
    """Each metric's value in per cent, rounded as it is printed; the same for keys of slices."""
    found = system(run(*arguments, *more, "--as", "json"))
    values = {score["metric"]: score["value"] for score in found["scores"]}
    values |= {part["key"]: score["value"] for part in found.get("slices", []) for score in part["scores"]}
    return {name: round(100 * value, 2) for name, value in values.items() if value is not None}


RIGHT: dict[str, dict[str, float]] = {
    "bug-01-trippy-four-classes": {"JGA": 100},
    "bug-04-sgd-none-is-a-value": {"JGA": 0, "SlotRecall": 50},
    "bug-08-hint-off-by-one-foreign-slot": {"JGA": 50},
    "bug-11-variants-without-entries": {"JGA": 100},
    "bug-12-reference-empty-everywhere": {"JGA": 0},
    "bug-13-special-token-glued": {"JGA": 50},
    "bug-14-unicode-decomposed": {"JGA": 100},
    "bug-15-most-states-empty": {"JGA": 20},
    "bug-16-delete-mark-in-states": {"JGA": 50},
    "bug-17-angle-brackets-in-both": {"JGA": 100},
    "bug-20-booked-among-slots": {"JGA": 100},
    "bug-22-trade-drops-by-the-last-entry": {"JGA": 100},
    "num-01-gca-rsa-hyphen": {"RSA": 33.33},
    "num-02-icdst-first-before-correction": {"JGA": 0},
    "num-03-sgd-fuzzywuzzy-without-levenshtein": {"JGA": 55},
    "num-05-sgd-service-without-slots": {"JGA": 0},
    "num-06-dst-prompting-alternatives-corrected-whole": {"JGA": 0},
    "num-07-dst-prompting-empty-alternative": {"JGA": 100},
    "num-09-fga-official-turn-keys-0-2-4": {"FGA@0.5": 49.89},
    "num-10-trade-empty-text-in-reference": {"JGA": 0},
    "num-11-fnctod-domain-empty-value": {"JGA": 0, "hotel": 100},
    "num-12-icdst-none-as-alternative": {"JGA": 100},
    "num-15-dontcare-spellings": {"JGA": 0},
    "brk-21-nfc-nfd": {"JGA": 100},
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_value(folder: Folder, name: str) -> None:
    assert scores(commands(folder(name))[0]) == RIGHT[name]


NOTES = {
    "bug-08-hint-off-by-one-foreign-slot": "hotel-semi-pricerange",
    "bug-12-reference-empty-everywhere": "reference",
    "bug-13-special-token-glued": "<|im_end|>",
    "bug-15-most-states-empty": "32 of 40",
    "bug-16-delete-mark-in-states": "--updates",
}


@pytest.mark.parametrize("name", NOTES)
def test_remark(folder: Folder, name: str) -> None:
    ran = run(*commands(folder(name))[0])
    assert ran.code == 0
    below = " ".join((ran.out + ran.err).split())
    assert NOTES[name] in below
    assert below.count(NOTES[name].split()[0]) > 0


REFUSED = {
    "bug-02-belief-span-other-domain": r"\[weather\]",
    "bug-03-belief-span-bracketed-slots": r"\[value_area\]",
    "bug-05-states-only-typo": "hotel-aera.*hotel-area",
    "bug-07-multiwoz-flat-metadata": "semi",
    "bug-10-mwzeval-advice": r"states\.alternatives_pred=first",
    "bug-19-tidy-table": "one row per turn",
    "num-08-fga-official-order-of-keys": "ascending order",
    "bug-25-value-with-confidence": "string.*confidence",
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(folder: Folder, name: str) -> None:
    for arguments in commands(folder(name)):
        ran = run(*arguments)
        assert ran.code == 1
        assert ran.out == ""
        assert re.search(REFUSED[name], ran.err), ran.err


def test_sgd_without_levenshtein(folder: Folder) -> None:
    arguments = commands(folder("num-03-sgd-fuzzywuzzy-without-levenshtein"))[0]
    assert scores([*arguments, "--set", "match.rule=sgd-difflib"]) == {"JGA": 45}


def test_sides_swapped(folder: Folder, shared: Path) -> None:
    arguments = commands(folder("num-04-hidst-checksubset-swapped"))[0]
    variants = str(shared / "data/fga/hidst_label_variants.json")
    arguments = [variants if part == "multiwoz21.json" else part for part in arguments]
    assert scores(arguments) == {"TurnMatch": 50, "FGA@0.5": 19.67}


def test_advice_can_be_followed(folder: Folder) -> None:
    place = folder("bug-10-mwzeval-advice")
    changed = [*commands(place)[0][:-1], "states.alternatives_pred=first"]
    assert scores(changed) == {"JGA": 100}


def test_setting_that_names_the_slot_meant(folder: Folder) -> None:
    arguments = commands(folder("bug-05-states-only-typo"))[0]
    assert scores([part.replace("aera", "area") for part in arguments]) == {"JGA": 0}


def test_changes_instead_of_states(folder: Folder) -> None:
    assert scores(commands(folder("bug-16-delete-mark-in-states"))[0], "--updates") == {"JGA": 100}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("bug-13-special-token-glued", "<|im_end|>"),
        ("bug-14-unicode-decomposed", ""),
        ("bug-16-delete-mark-in-states", "[DELETE]"),
    ],
)
def test_validate(folder: Folder, name: str, told: str) -> None:
    ran = run(*commands(folder(name))[1])
    assert ran.code == 0, ran.err
    assert told in ran.out + ran.err


def test_values_of_the_schema_are_never_absent(shared: Path, tmp_path: Path) -> None:
    """A prediction that leaves "None" out is wrong at 135 of the 4250 turns of SGD's dev files."""
    dev = shared / "data/sgd/dev"
    for path in dev.glob("dialogues_*.json.gz"):
        dialogues = json.loads(gzip.decompress(path.read_bytes()))
        for frame in (frame for one in dialogues for turn in one["turns"] for frame in turn["frames"]):
            if "state" in frame:
                values = frame["state"]["slot_values"]
                frame["state"]["slot_values"] = {
                    slot: texts for slot, texts in values.items() if texts != ["None"]
                }
        (tmp_path / path.stem).write_text(json.dumps(dialogues))
    scored = system(run("score", tmp_path, "--ref", dev, "--metric", "JGA", "--no-ci", "--as", "json"))["scores"][
        0
    ]
    assert scored["total"] - scored["count"] == 135
    assert round(100 * scored["value"], 2) == 96.82


def test_left_out_by_create_data(folder: Folder) -> None:
    place = folder("bug-22-trade-drops-by-the-last-entry")
    coverage = system(run(*commands(place)[0], "--as", "json"))["coverage"]
    assert (coverage["scored_dialogues"], coverage["ref_dialogues"]) == (1, 4)


def test_trade_prediction_equal_to_its_reference(folder: Folder) -> None:
    folder("num-10-trade-empty-text-in-reference")
    assert scores(["score", "all_prediction_b.json", "--protocol", "trade", "--metric", "JGA"]) == {"JGA": 100}


def test_signature_shows_turn_numbers(folder: Folder) -> None:
    folder("num-13-signature-blind-to-turn-numbers")
    ran = run("score", "a.jsonl", "b.jsonl", "--metric", "FGA@0.5", "--as", "json")
    assert ran.code == 0, ran.err
    (a,), (b,) = (found["scores"] for found in json.loads(ran.out)["systems"])
    assert [round(100 * score["value"], 2) for score in (a, b)] == [34.19, 58.22]
    assert a["signature"] != b["signature"]


@pytest.mark.parametrize(
    "more",
    [
        ["--set", "states.dontcare=keep"],
        ["--set", 'states.absent=["not mentioned", "none", ""]'],
        ["--missing", "skip"],
        ["--extra", "ignore"],
        ["--set", "scope.leave_out_why=any"],
    ],
    ids=lambda more: more[-1],
)
def test_signature_stays_where_nothing_changes(folder: Folder, more: list[str]) -> None:
    folder("num-14-signature-noop-set")

    def signature(*options: str) -> str:
        scored = system(run("score", "a.jsonl", "--metric", "AGA", *options, "--as", "json"))["scores"][0]
        text: str = scored["signature"]
        return text

    assert signature(*more) == signature()


def test_signature_of_a_parameter_at_its_default(folder: Folder) -> None:
    folder("num-14-signature-noop-set")
    ran = run("score", "a.jsonl", "--metric", "AGA", "--metric", "AGA(over=ref)", "--as", "json")
    first, second = system(ran)["scores"]
    assert first["signature"] == second["signature"]
