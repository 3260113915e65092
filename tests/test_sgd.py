"""Service frames: the protocols sgd and sgd-exact against their oracle, and what they refuse."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

import dsteval
import naive_sgd
from commandline import refusal, run
from dsteval import metrics
from dsteval.errors import DstevalError, MetricError
from dsteval.values.tools.sgd import difflib_ratio, token_sort_ratio
from naive_sgd import Json

FRAME_METRICS = [name for name in metrics.names() if "frame" in metrics.find(name).unit]
OF_TURNS = [name for name in metrics.names() if metrics.find(name).unit == ("turn",)]

SCHEMA: list[Json] = [
    {
        "service_name": "Hotels_1",
        "slots": [{"name": "area", "is_categorical": True}, {"name": "name", "is_categorical": False}],
    },
    {"service_name": "Media_1", "slots": [{"name": "title", "is_categorical": False}]},
]
TRAIN: list[Json] = [{"service_name": "Media_1", "slots": []}]


def state(intent: str = "NONE", requested: list[str] | None = None, /, **values: Any) -> Json:
    return {"slot_values": values, "active_intent": intent, "requested_slots": requested or []}


def dialogue(name: str, *turns: dict[str, Json]) -> Json:
    """A dialogue of user turns, each {service: state}."""
    frames = [[{"service": service, "state": value} for service, value in turn.items()] for turn in turns]
    return {"dialogue_id": name, "turns": [{"speaker": "USER", "utterance": "", "frames": f} for f in frames]}


def evaluate(ref: Any, pred: Any, protocol: str = "sgd", **options: Any) -> dsteval.Result:
    options = {"format": "sgd", "ref_format": "sgd", "schema": SCHEMA, **options}
    return dsteval.evaluate(ref, pred, protocol=protocol, **options)


REF = [
    dialogue(
        "1",
        {"Hotels_1": state("Find", ["phone"], area=["north"], name=["tap house", "the tap"]), "Media_1": state()},
        {"Media_1": state("Play", title=["7:30 pm"])},
    )
]
PRED = [
    dialogue(
        "1",
        {"Hotels_1": state("Find", [], area=["north"], name=["the tap-house"]), "Media_1": state()},
        {"Media_1": state("Find", title=["7 pm"])},
    )
]

WORDS = ["tap", "House", "the", "7:30", "7", "pm", "north", "O'Neil", "?", "", "a-b"]


class Made:
    """A schema and dialogues made by chance, and what a tracker with errors would have written."""

    def __init__(self, seed: int) -> None:
        self.chance = chance = Random(seed)
        names = ["Hotels_1", "Hotels_2", "Media_1", "taxi"]
        self.schema: list[Json] = []
        for name in names:
            slots = [f"s{n}" if name != "taxi" else f"taxi-s{n}" for n in range(chance.choice([0, 1, 2, 3, 4, 5]))]
            flags = chance.choice([[True], [False], [True, False]])
            rows = [{"name": slot, "is_categorical": chance.choice(flags)} for slot in slots]
            self.schema.append({"service_name": name, "slots": rows})
        self.seen = {name for name in names if chance.random() < 0.5}
        self.slots = {row["service_name"]: [slot["name"] for slot in row["slots"]] for row in self.schema}

    def value(self) -> str:
        return " ".join(self.chance.choices(WORDS, k=self.chance.randint(1, 3)))

    def ref_state(self, slots: list[str]) -> Json:
        chance = self.chance
        values = {
            slot: [self.value() for _ in range(chance.randint(1, 3))] for slot in slots if chance.random() < 0.6
        }
        return state(
            chance.choice(["NONE", "Find"]),
            chance.choices(slots or ["s"], k=chance.choice([0, 0, 1, 2])),
            **values,
        )

    def guess(self, ref: Json, slots: list[str]) -> Json:
        """A predicted state: values kept, written in another way, exchanged, dropped, made up."""
        chance = self.chance
        values: dict[str, list[str]] = {}
        for slot, accepted in ref["slot_values"].items():
            text = chance.choice(accepted)
            made = [text, text, text, f"the {text}", text.upper(), " ".join(reversed(text.split())), self.value()]
            if chance.random() < 0.9:
                values[slot] = [chance.choice(made), *chance.choice([[], [self.value()]])]
        for slot in [*slots, "unlisted"]:
            if chance.random() < 0.05:
                values.setdefault(slot, [self.value()])
        intent = ref["active_intent"] if chance.random() < 0.9 else "Other"
        requested = ref["requested_slots"] if chance.random() < 0.7 else chance.choices(slots or ["s"], k=2)
        return state(intent, requested, **values)

    def dialogues(self, count: int) -> tuple[list[Json], list[Json]]:
        refs, preds = [], []
        for number in range(count):
            ref_turns, pred_turns = [], []
            for _ in range(self.chance.randint(1, 6)):
                involved = self.chance.sample([*self.slots], k=self.chance.choice([0, 1, 1, 1, 2, 3]))
                ref = {name: self.ref_state(self.slots[name]) for name in involved}
                pred = {name: self.guess(ref[name], self.slots[name]) for name in sorted(involved)}
                if self.chance.random() < 0.1:
                    pred.setdefault("taxi", state(**{"taxi-s0": ["spurious"]}))
                ref_turns.append(ref)
                pred_turns.append(pred)
            refs.append(dialogue(str(number), *ref_turns))
            preds.append(dialogue(str(number), *pred_turns))
        self.chance.shuffle(preds)
        return refs, preds


def names(across: str) -> dict[str, str]:
    """The oracle's name of each metric -> its text."""
    kinds = {"goal": "all", "cat": "categorical", "noncat": "noncategorical"}
    joint = {f"joint_{kind}_accuracy": f"FrameJGA(across={across},slots={s})" for kind, s in kinds.items()}
    average = {f"average_{kind}_accuracy": f"FrameAGA(slots={s})" for kind, s in kinds.items()}
    return {
        **joint,
        **average,
        "active_intent_accuracy": "IntentAccuracy",
        "requested_slots_f1": "RequestedF1",
    }


RULES: list[tuple[str, list[str], naive_sgd.Rule]] = [
    ("sgd", [], naive_sgd.similarity),
    ("sgd-exact", [], naive_sgd.equality),
    ("sgd", ["match.rule=sgd-difflib"], naive_sgd.difflib_similarity),
]


@pytest.mark.parametrize("seed", range(20))
def test_frames_are_scored_as_the_oracle_scores_them(seed: int) -> None:
    """More than 20,000 turns in all, two thirds of them fuzzy; some services have no slots."""
    protocol, settings, rule = RULES[seed % 3]
    made = Made(seed)
    ref, pred = made.dialogues(330)
    train = [{"service_name": name} for name in made.seen]
    groups = {"seen": "#SEEN_SERVICES", "unseen": "#UNSEEN_SERVICES"}
    wanted = sorted({*names("frame").values(), *names("turn").values()})
    result = evaluate(
        ref,
        pred,
        protocol,
        metrics=wanted,
        by=["service", "domain", *(["group"] if train else [])],
        schema=made.schema,
        train_schema=train,
        settings=settings,
    )
    assert result.coverage.scored_turns > 1000
    found = {groups.get(one.key, one.key): one.scores for one in result.slices}
    found["#ALL_SERVICES"] = result.scores
    for across in ("frame", "turn"):
        expected = naive_sgd.score(ref, pred, made.schema, made.seen, rule, across == "turn")
        assert found.keys() >= expected.keys() - set(groups.values())
        for key in found:
            values = {score.metric: score.value for score in found[key]}
            told = {name: values[str(metrics.parse(text))] for name, text in names(across).items()}
            defined = {name: value for name, value in told.items() if value is not None}
            assert defined == pytest.approx(expected[key], abs=1e-12, rel=0), (protocol, across, key)


@pytest.mark.parametrize("protocol", ["sgd", "sgd-exact"])
def test_a_reference_is_perfect_against_itself(protocol: str) -> None:
    made = Made(1)
    ref, _ = made.dialogues(100)
    result = evaluate(ref, ref, protocol, schema=made.schema)
    assert {score.value for score in result.scores} <= {1.0, None}
    assert result["JGA"].value == 1


def test_similarity_is_fuzzywuzzys() -> None:
    # As its version 0.18 with python-Levenshtein gives them.
    expected = {
        ("?", "?"): 100,
        ("?", "!"): 100,
        ("$", "a"): 0,
        ("é", "e"): 0,
        ("É", "é"): 100,
        ("café x", "cafe x"): 91,
        ("北", "京"): 0,
        ("_a", "a"): 67,
        ("a b", "B A"): 100,
        ("o'neil", "o neil"): 100,
    }
    assert {pair: token_sort_ratio(*pair) for pair in expected} == expected
    # By difflib the order of the two matters, and matching is greedy: the longest block first.
    assert [token_sort_ratio("abxcd", "abcdx"), difflib_ratio("abxcd", "abcdx")] == [80, 80]
    assert [token_sort_ratio("tide", "diet"), token_sort_ratio("diet", "tide")] == [50, 50]
    assert [difflib_ratio("tide", "diet"), difflib_ratio("diet", "tide")] == [25, 50]
    assert [difflib_ratio(*pair) for pair in expected] == [100, 100, 0, 0, 100, 91, 0, 67, 100, 100]


def test_by_hand() -> None:
    result = evaluate(REF, PRED, metrics=["JGA", "FrameJGA(across=turn)", "AGA", "IntentAccuracy", "RequestedF1"])
    # "house tap the" against "house tap": 18 of 22 signs; "pm 7" against "30 7 pm": 8 of 11.
    near, far = 0.82, 0.73
    values = [score.value for score in result.scores]
    assert values == pytest.approx(
        [(near + 1 + far) / 3, (near + far) / 2, ((1 + near) / 2 + far) / 2, 2 / 3, 2 / 3]
    )
    assert [(score.count, score.total) for score in result.scores] == [
        (None, 3),
        (None, 2),
        (None, 2),
        (2, 3),
        (None, 3),
    ]
    exact = evaluate(REF, PRED, "sgd-exact", metrics=["JGA", "FrameJGA(slots=categorical)"])
    assert [score.value for score in exact.scores] == [1 / 3, 1.0]
    assert "|match:sgd-exact|" in exact["JGA"].signature


def test_a_frame_stands_as_it_is() -> None:
    # The second turn lists no frame of Hotels_1; a protocol of whole turns carries the last one on.
    ref = [dialogue("1", {"Hotels_1": state(area=["north"])}, {"Media_1": state()})]
    pred = [dialogue("1", {"Hotels_1": state(area=["west"])}, {"Media_1": state()})]
    assert evaluate(ref, pred)["JGA"].value == 0.5
    assert evaluate(ref, pred, "exact", metrics=["JGA"])["JGA"].value == 0


def test_slices_of_frames() -> None:
    by = ["service", "group", "turn", "dialogue", "length"]
    wanted = ["JGA", "FrameJGA(across=turn)", "SlotF1"]
    result = evaluate(REF, PRED, "sgd-exact", metrics=wanted, by=by, train_schema=TRAIN)
    found = {
        (one.by, one.key, one.convention): (one.turns, [score.value for score in one.scores])
        for one in result.slices
    }
    assert found == {
        ("service", "Hotels_1", "frames"): (1, [0.0, 0.0, 0.5]),
        ("service", "Media_1", "frames"): (2, [0.5, 0.5, 0.0]),
        ("group", "seen", "frames"): (2, [0.5, 0.5, 0.0]),
        ("group", "unseen", "frames"): (1, [0.0, 0.0, 0.5]),
        ("turn", "0", "all"): (2, [0.5, 0.0, 0.5]),
        ("turn", "1", "all"): (1, [0.0, 0.0, 0.0]),
        ("dialogue", "1", "all"): (3, [1 / 3, 0.0, 1 / 3]),
        ("length", "2", "all"): (3, [1 / 3, 0.0, 1 / 3]),
    }
    in_group = [one for one in result.slices if one.by == "group"]
    assert all("|slice:group=" in s.signature and "|train:" in s.signature for one in in_group for s in one.scores)
    assert "|schema:" in result["JGA"].signature
    assert "|train:" not in result["JGA"].signature


def test_what_has_no_meaning_is_null_and_says_why() -> None:
    of_turns = [f"{name}@0.5" if metrics.find(name).number_about else name for name in OF_TURNS]
    of_turns = [text for text in of_turns if text not in ("JGA", "AGA")]  # their frames' metrics by another name
    result = evaluate(REF, PRED, metrics=of_turns)
    assert {score.why for score in result.scores} == {
        "the protocol scores service frames; this metric needs whole turns"
    }
    flat = dsteval.evaluate({"d": [{"a-b": "c"}]}, {"d": [{"a-b": "c"}]}, metrics=FRAME_METRICS)
    for score in flat.scores:
        if score.metric.startswith("Slot"):
            assert score.value == 1
        else:
            assert (score.value, score.count, score.total) == (None, None, None)
            assert "the protocol scores whole turns" in score.why


def test_turns_that_are_right_in_part_have_no_error_turn() -> None:
    ref, pred = {"d": [{"hotel-name": "tap house"}]}, {"d": [{"hotel-name": "the tap house"}]}
    wanted = ["FGA@0.5", "TurnMatch", "JGA", "SlotF1(credit=partial)"]
    result = dsteval.evaluate(ref, pred, metrics=wanted, settings=["match.rule=sgd-fuzzy"])
    assert [score.value for score in result.scores] == [None, None, 0.0, 0.82]
    assert "partial scores" in result["TurnMatch"].why


def test_a_metric_of_frames_takes_no_parameter_of_turns() -> None:
    with pytest.raises(MetricError, match="Unknown parameter of FrameJGA 'average'"):
        evaluate(REF, PRED, metrics=["JGA(average=dialogue)"])


def test_intents_and_requests_that_are_not_told() -> None:
    silent = [
        dialogue("1", *({s: {"slot_values": v["slot_values"]} for s, v in turn.items()} for turn in turns(PRED)))
    ]
    beside = ["IntentAccuracy", "RequestedF1"]
    for ref, pred in ((REF, silent), (silent, PRED)):
        assert [score.value for score in evaluate(ref, pred, metrics=beside).scores] == [None, None]
    told = turns(PRED)
    del told[0]["Media_1"]["active_intent"], told[0]["Hotels_1"]["requested_slots"]
    # NONE is what Media_1 has at turn 0; an empty text is an intent like others.
    assert evaluate(REF, [dialogue("1", *told)], metrics=beside)["IntentAccuracy"].value == 2 / 3
    told[0]["Media_1"]["active_intent"] = ""
    assert evaluate([dialogue("1", *told)], [dialogue("1", *told)], metrics=beside)["IntentAccuracy"].value == 1


def turns(dialogues: list[Json]) -> list[dict[str, Json]]:
    """The turns of the first dialogue, each {service: state}, as copies."""
    listed = [{frame["service"]: frame["state"] for frame in turn["frames"]} for turn in dialogues[0]["turns"]]
    copied: list[dict[str, Json]] = json.loads(json.dumps(listed))
    return copied


def test_missing_and_extra_frames() -> None:
    (first, second) = turns(PRED)
    lacking = [dialogue("1", {"Hotels_1": first["Hotels_1"]}, {**second, "Hotels_1": state(area=["west"])})]
    with pytest.raises(DstevalError, match=r"1 of 3 missing \(1 turn 0 Media_1\)\. .* missing=.empty."):
        evaluate(REF, lacking)
    filled = evaluate(REF, lacking, "sgd-exact", missing="empty")
    assert filled["JGA"].value == 1 / 3
    assert filled["IntentAccuracy"].value == 2 / 3
    assert "1 frame without prediction scored as empty (1 turn 0 Media_1)" in filled.notes
    ignored = (
        "predicted frame of services that the reference does not have at that turn ignored (1 turn 1 Hotels_1)"
    )
    assert f"1 {ignored}" in filled.notes
    unlisted = turns(PRED)
    unlisted[1]["Media_1"]["slot_values"]["year"] = ["1999"]
    result = evaluate(REF, [dialogue("1", *unlisted)])
    assert result["JGA"].value == evaluate(REF, PRED)["JGA"].value
    assert "1 predicted slot not in the schema ignored (Media_1-year)" in result.notes


@pytest.mark.parametrize("frames", ["domains", "active"])
def test_frames_out_of_whole_turns(frames: str) -> None:
    ref = {"d": [{"hotel-area": "north"}, {"hotel-area": "north", "taxi-leaveat": "5 pm"}]}
    pred = {"d": [{"hotel-area": "north", "train-day": "x"}, {"hotel-area": "north"}]}
    settings = [f"scope.frames={frames}", "scope.schema=none"]
    wanted = ["JGA", "FrameJGA(across=turn)", "AGA", "FrameJGA(slots=categorical)"]
    result = dsteval.evaluate(ref, pred, protocol="sgd-exact", metrics=wanted, settings=settings)
    expected = {"domains": [8 / 10, 0.0, 2 / 3, None], "active": [2 / 3, 0.5, 2 / 3, None]}
    assert [score.value for score in result.scores] == expected[frames]
    assert "|schema:none|" in result["JGA"].signature
    assert any("train" in note for note in result.notes) == (frames == "active")


def test_other_domains_are_those_seen() -> None:
    settings = ["scope.frames=domains", "scope.schema=none"]
    result = dsteval.evaluate(
        {"a": [{"x-y": "1"}], "b": [{"z-y": "1"}]},
        {"a": [{"x-y": "1"}], "b": [{}]},
        protocol="sgd",
        settings=settings,
    )
    assert (result["JGA"].value, result["JGA"].total) == (0.75, 4)


def test_our_lines_hold_frames_too(tmp_path: Path) -> None:
    (tmp_path / "pred.json").write_text(json.dumps(PRED), encoding="utf-8")
    (tmp_path / "ref.json").write_text(json.dumps(REF), encoding="utf-8")
    for side in ("ref", "pred"):
        assert run("convert", tmp_path / f"{side}.json", tmp_path / f"{side}.jsonl").code == 0
    found = dsteval.evaluate(tmp_path / "ref.jsonl", tmp_path / "pred.jsonl", protocol="sgd", schema=SCHEMA)
    assert [s.value for s in found.scores] == [s.value for s in evaluate(REF, PRED).scores]


def test_on_the_command_line(tmp_path: Path) -> None:
    for name, value in (("dev/dialogues_001", REF), ("dev/schema", SCHEMA), ("pred", PRED), ("train", TRAIN)):
        place = tmp_path / f"{name}.json"
        place.parent.mkdir(exist_ok=True)
        place.write_text(json.dumps(value), encoding="utf-8")
    files = [str(tmp_path / "pred.json"), "--ref", str(tmp_path / "dev")]
    train = ["--train-schema", str(tmp_path / "train.json"), "--by", "group"]
    ran = run("score", *files, "--protocol", "sgd", *train, "--as", "json")
    assert ran.code == 0, ran
    system = json.loads(ran.out)["systems"][0]
    expected = evaluate(REF, PRED)
    assert [(s["metric"], s["value"]) for s in system["scores"]] == [(s.metric, s.value) for s in expected.scores]
    assert [(one["by"], one["key"], one["turns"]) for one in system["slices"]] == [
        ("group", "seen", 2),
        ("group", "unseen", 1),
    ]
    given = run(
        "score", files[0], "--ref", tmp_path / "dev/dialogues_001.json", "--protocol", "sgd", "--as", "json"
    )
    assert "expected a schema" in refusal(given)
    schema = ["--schema", str(tmp_path / "dev/schema.json")]
    again = run(
        "score", *files[:2], tmp_path / "dev/dialogues_001.json", "--protocol", "sgd", *schema, "--as", "json"
    )
    assert json.loads(again.out)["systems"][0]["scores"] == system["scores"]
    counted = run("score", *files, *schema, "--metric", "SlotAccuracy", "--as", "json")
    assert "|S:3|" in json.loads(counted.out)["systems"][0]["scores"][0]["signature"]
