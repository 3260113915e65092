"""Files of trackers that tell more than states, or that write states as text; all tell the story."""

from dsteval.dialogue import Dialogue
from native import Sample, chosen, story, updated

CHANGES = (
    "",
    "hotel-area=north; hotel-name=rose-garden; hotel-stars=do n't care",
    "hotel-name=rose-garden-house; hotel-stars=none; train-day=not mentioned",
    "train-day=friday",
    "",
)
"""What changes at each turn of the story's predictions."""


def _generated() -> list[Dialogue]:
    """The story with what SimpleTOD's model wrote between its items."""
    found = story(user=True)
    for dialogue, turn, *texts in (
        (0, 0, "", "<|endoftext|>"),
        (0, 2, "train book", "hotel"),
        (1, 1, "<|endoftext|>"),
    ):
        pred = found[dialogue].turns[turn].pred
        assert pred is not None
        pred += [(text, "") for text in texts]
    return [Dialogue(dialogue.id, dialogue.turns, keyed=False) for dialogue in found]


TRACKERS = [
    Sample("hidst/log_test_7.json", "hidst", updated(story(True, True), *CHANGES)),
    Sample("simpletod/generated.json", "simpletod", _generated()),
    Sample("fnctod/test2-dst0shot.json", "fnctod", story(user=True, lower=True)),
    Sample("belief-text/ubar_BS.json", "belief-text", story(user=True)),
    Sample("belief-text/flat.json", "belief-text", story(user=True, lower=True)),
    Sample("belief-text/result.csv", "belief-text", story(user=True, lower=True)),
    Sample(
        "icdst/running_log.json",
        "icdst",
        updated(
            story(True, True),
            "",
            "hotel-area=north; hotel-name=rose garden; hotel-stars=do nt care",
            "hotel-name=[DELETE]; train-book people=2",
            "train-day=friday",
            "",
        ),
    ),
    Sample(
        "trippy/pred_res.test.final.json",
        "trippy",
        chosen(
            story(),
            "hotel-area=0 none; hotel-name=0 none; hotel-stars=0 none; train-day=0 none",
            "hotel-area=2 north; hotel-name=6 §§rose-garden; hotel-stars=2 do n't care; train-day=0 none",
            "hotel-area=0 north; hotel-name=5 §§ rose-garden-house; hotel-stars=0 none; train-day=2 not mentioned",
            "hotel-area=0 none; hotel-name=0 none; hotel-stars=0 none; train-day=2 friday",
            "hotel-area=0 none; hotel-name=0 none; hotel-stars=0 none; train-day=0 friday",
        ),
    ),
]
