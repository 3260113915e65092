"""Scorer: dialogues and turns as they come give what evaluate gives of all of them."""

import math
import pickle
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dsteval
from dsteval import Scorer
from dsteval.errors import AlignmentError, OptionError, ReadError
from dsteval.pipeline import scorer as module
from forms import sides
from strategies import WrittenCorpus, corpora

METRICS = ["JGA", "SlotF1", "SlotAccuracy", "AGA", "FGA@0.5", "UpdateAccuracy"]


def scorer() -> Scorer:
    return Scorer(metrics=METRICS, by=["slot", "domain", "turn", "length"])


@given(corpora(), st.data())
def test_what_comes_bit_by_bit_scores_as_the_whole(corpus: WrittenCorpus, data: st.DataObject) -> None:
    ref, pred = sides(corpus)
    whole = dsteval.evaluate(ref, pred, metrics=METRICS, by=["slot", "domain", "turn", "length"])
    scorers = [scorer(), scorer()]
    for name in ref:
        one = data.draw(st.sampled_from(scorers))
        if data.draw(st.booleans()):
            one.update(ref[name], pred[name], dialogue=name)
        else:
            for b, p in zip(ref[name], pred[name], strict=True):
                one.update(b, p, dialogue=name)
        if data.draw(st.booleans()):
            one.compute()
    first, second = scorers
    first.merge(pickle.loads(pickle.dumps(second)))
    again = scorer()
    again.load(pickle.loads(pickle.dumps(first.state_dict())))
    for one in (first, again):
        assert len(one) == len(ref)
        result = one.result()
        assert result.signature == whole.signature
        found = {score.metric: (score.value, score.count, score.total) for score in result.scores}
        assert found == {score.metric: (score.value, score.count, score.total) for score in whole.scores}
        assert {(p.by, p.key, p.convention, p.turns, p.scores[0].value) for p in result.slices} == {
            (p.by, p.key, p.convention, p.turns, p.scores[0].value) for p in whole.slices
        }


def test_counted_in_blocks_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MANY_TURNS", 3)
    one = Scorer(metrics=["JGA"])
    for number in range(9):
        one.update([{"hotel-area": "north"}] * 2, [{}, {"hotel-area": "north"}], dialogue=f"d{number}")
    assert one.compute() == {"JGA": 0.5}
    assert one.compute() == {"JGA": 0.5}


def test_nothing_is_nan() -> None:
    assert math.isnan(Scorer(metrics=["JGA"]).compute()["JGA"])
    with pytest.raises(AlignmentError, match="at least one turn to score, found none"):
        Scorer().result()


def test_whole_dialogues_need_no_name() -> None:
    one, other = Scorer(metrics=["JGA"]), Scorer(metrics=["JGA"])
    for each in (one, other):
        each.update([{}], [{"hotel-area": "north"}])
    one.merge(other)
    assert (len(one), one.compute()) == (2, {"JGA": 0.0})


def twice() -> None:
    one = Scorer()
    for _ in range(2):
        one.update([{}], [{}], dialogue="d")
    one.result()


def merged_twice() -> None:
    one, other = Scorer(), Scorer()
    for each in (one, other):
        each.update({}, {}, dialogue="d")
    one.merge(other)


@pytest.mark.parametrize(
    ("act", "kind", "text"),
    [
        (lambda: Scorer().update({}, {}), OptionError, "the id of the dialogue"),
        (lambda: Scorer().update([{}], [{}, {}]), OptionError, "one state per turn on both sides, found 1 and 2"),
        (lambda: Scorer().update([], []), OptionError, "found 0 and 0"),
        (lambda: Scorer().update({}, [{}]), OptionError, "two states, or two lists of states"),
        (
            lambda: Scorer().update([{"hotel-area": 1.5}], [{}]),
            ReadError,
            "a string or a list of strings, found 1.5",
        ),
        (lambda: Scorer(protocol="sgd"), OptionError, "a protocol that scores whole turns"),
        (lambda: Scorer(changes=True), OptionError, "evaluate, which sees all dialogues"),
        (lambda: Scorer().merge(Scorer(protocol="trade")), OptionError, "the same settings"),
        (twice, AlignmentError, "each dialogue once"),
        (merged_twice, AlignmentError, "each dialogue once"),
    ],
)
def test_refused(act: Callable[[], None], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        act()
