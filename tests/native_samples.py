"""Every made-up file of tests/formats, with the dialogues that it holds."""

from dsteval.dialogue import Choice, Dialogue, Frame, Items, Turn
from native import Sample, items, story, updated
from native_trackers import CHANGES, TRACKERS

STORIES = [
    Sample("trade/all_prediction_TRADE.json", "trade", story()),
    Sample("trade/relative.json", "trade", story()),
    Sample("trade/flat.json", "trade", story()),
    Sample("t5dst/T5_prediction.json", "t5dst", story()),
    Sample("somdst/preds_0.json", "somdst", story(numbers=((0, 1, 3), (0, 2)), gaps=True)),
    Sample("convlab/predictions.json", "convlab", story(user=True)),
    Sample("llm_dst_eval/original.json", "llm_dst_eval", updated(story(True, True), *CHANGES)),
    Sample("table/cells.csv", "table", story(True, True)),
    Sample("table/columns.tsv", "table", story()),
    Sample("fga-json/result.json", "fga-json", story()),
    Sample("fga-text", "fga-text", story(True, True)),
    Sample("dsteval-jsonl/both.jsonl", "dsteval-jsonl", story(True, True)),
    *TRACKERS,
]
"""Files that hold both sides of one and the same story."""


def _two(name: str, *turns: tuple[str, str]) -> Dialogue:
    return Dialogue(name, [Turn(t, items(ref), items(pred)) for t, (ref, pred) in enumerate(turns)])


def _one(
    name: str,
    *states: str,
    texts: str = "",
    keyed: bool = True,
    alone: bool = False,
    after: tuple[str, ...] | None = None,
) -> Dialogue:
    """A dialogue of predictions; ``texts`` holds 'system / user' of each turn, one a line."""
    turns = [Turn(t, pred=items(state)) for t, state in enumerate(states)]
    for turn, line in zip(turns, texts.split("\n"), strict=False):
        system, slash, user = line.partition(" / ")
        turn.system, turn.user = (system, user) if slash else (None, None)
    return Dialogue(name, turns, keyed=keyed, alone=alone, after=after)


def _frames(name: str, *turns: tuple[str, list[Frame]]) -> Dialogue:
    said = [(*text.partition(" / ")[::2], frames) for text, frames in turns]
    return Dialogue(name, [Turn(t, system=s, user=u, pred_frames=frames) for t, (s, u, frames) in enumerate(said)])


def _frame(service: str, values: str, intent: str | None = None, *requested: str) -> Frame:
    """A frame whose values are lists, as SGD writes them; without an intent it has only texts."""
    if intent is None:
        return Frame(service, items(values))
    lists: Items = [(slot, (value,) if isinstance(value, str) else value) for slot, value in items(values)]
    return Frame(service, lists, intent, list(requested))


def _marks(name: str, *wrong: tuple[int, ...]) -> Dialogue:
    return Dialogue(
        name, [Turn(t, correctness=[int(i not in row) for i in range(30)]) for t, row in enumerate(wrong)]
    )


_JSONL_FRAMES = [
    Dialogue(
        "9_00001",
        [
            Turn(0, ref_frames=[_frame("Hotels_9", "area=north+the north", "FindHotel", "stars")], pred_frames=[]),
            Turn(
                1,
                ref_frames=[Frame("Flights_9", items("seats=2; seats=2"))],
                pred_frames=[Frame("Flights_9", items("seats=none"))],
            ),
        ],
        doubles=True,
    ),
    Dialogue("9_00002", [Turn(0, items("hotel-stars=3; hotel-stars=3"), items("hotel-stars=dontcare"))], True),
]

_JSONL_CHOICES = [
    Dialogue(
        "MUL9001.json",
        [
            Turn(
                0,
                items("hotel-area=north"),
                items("hotel-area=north"),
                pred_update=items("hotel-area=east; hotel-area=north"),
                choices=[Choice("hotel-area", "inform", "§§north"), Choice("train-day", "none", "none")],
            ),
            Turn(1, items("hotel-area=north"), items("hotel-area=friday"), pred_update=[], choices=[]),
            Turn(2, [], [], pred_update=[("hotel-area", None), *items("train-day=10:15+10-15")]),
        ],
    ),
]

OTHERS = [
    Sample("dsteval-jsonl/frames.jsonl", "dsteval-jsonl", _JSONL_FRAMES),
    Sample("dsteval-jsonl/choices.jsonl", "dsteval-jsonl", _JSONL_CHOICES),
    Sample(
        "belief-text/bare.csv",
        "belief-text",
        [
            Dialogue(
                "mul9001",
                [
                    Turn(0, [], []),
                    Turn(1, items("hotel-area=north"), items("hotel-area=north; hotel-area=north; hotel-stars=")),
                ],
                doubles=True,
            ),
            _two("pmul9002", ("train-day=friday", "train-day="), ("train-day=friday", "")),
        ],
    ),
    Sample(
        "icdst/mw24_test.json",
        "icdst",
        [
            _one(
                "MUL9001.json",
                "hotel-area=north",
                "hotel-area=north; hotel-name=rose-garden|rose-garden-house; train-book people=2",
                texts=" / a room in the north\nwhich one ? / the rose-garden , and a train",
            ),
            _one("PMUL9002.json", "train-day=dontcare", texts=" / any train"),
        ],
        both=False,
    ),
    Sample(
        "trippy-bits/trippy_result.json",
        "trippy-bits",
        [_marks("MUL9001.json", (), (0,), (0,)), _marks("PMUL9002.json", (3, 29), ())],
        protocol="fga-trippy",
    ),
    Sample(
        "mwzeval/predictions.json",
        "mwzeval",
        [
            _one(
                "mul9001",
                "",
                "hotel-area=north; hotel-name=rose-garden-house; hotel-price range=dontcare",
                "hotel-area=north; hotel-name=not mentioned; hotel-day=none; train-leave at=10:15",
                keyed=False,
            ),
            _one("pmul9002", "train-day=friday", "", keyed=False),
        ],
        both=False,
    ),
    Sample(
        "multiwoz",
        "multiwoz",
        [
            _one(
                "MUL9001.json",
                "hotel-book stay=; hotel-book day=none; hotel-name=not mentioned; hotel-area=north",
                "hotel-book stay=2; hotel-book day=; hotel-name=rose-garden-house|rose-garden; "
                "hotel-area=north+the north",
                texts=" / A room in the north please\nWhich one? / The Rose-Garden",
                after=("Done", "Bye"),
            ),
            _one(
                "PMUL9002",
                "train-book people=; train-leaveAt=dont care; train-day=not mentioned",
                texts=" / Any train",
                after=("From where?",),
            ),
            _one(
                "SNG9003.json",
                "taxi-arriveBy=",
                "taxi-arriveBy=24:15",
                texts=" / Hello\nHello / A taxi",
                after=("When?",),
            ),
        ],
        both=False,
    ),
    Sample(
        "sgd/dev",
        "sgd",
        [
            _frames(
                "9_00001",
                (
                    " / A room in the north please",
                    [_frame("Hotels_9", "area=north+the north", "FindHotel", "stars")],
                ),
                ("How many stars? / A flight, too", [_frame("Flights_9", "airline=dontcare; seats=none", "NONE")]),
            ),
            _frames(
                "9_00002",
                (" / Hello", [_frame("Hotels_9", "", "FindHotel")]),
                (
                    "Where? / Rose-Garden",
                    [_frame("Hotels_9", "name=rose-garden-house; area=not mentioned", "FindHotel")],
                ),
            ),
        ],
        both=False,
    ),
    Sample(
        "sgd/by_id.json",
        "sgd",
        [
            _frames("9_00001", (" / A room", [_frame("Hotels_9", "area=north")])),
            _frames(
                "9_00002",
                (" / Hello", [_frame("Hotels_9", "")]),
                (" / Rose-Garden", [_frame("Hotels_9", "name=rose-garden-house; stars=dontcare; area=none")]),
            ),
        ],
        both=False,
    ),
    Sample(
        "sgd/multiwoz22.json",
        "sgd",
        [
            _frames(
                "PMUL9001.json",
                (
                    " / A room in the north from friday",
                    [
                        _frame("hotel", "hotel-area=north; hotel-bookday=friday", "find_hotel", "hotel-parking"),
                        _frame("train", "", "NONE"),
                    ],
                ),
                (
                    "Done. / And a train",
                    [
                        _frame("hotel", "hotel-area=north; hotel-bookday=friday", "NONE"),
                        _frame("train", "train-leaveat=10:15+quarter-past-ten; train-day=dontcare", "find_train"),
                    ],
                ),
            ),
            _frames("SNG9002.json", (" / Hello", [_frame("train", "train-day=none+not mentioned", "NONE")])),
        ],
        both=False,
    ),
    Sample(
        "star-tsv/star.tsv",
        "star-tsv",
        [
            _one(
                "MUL9001.json",
                "hotel-area=north; hotel-name=none; hotel-book day=none",
                "hotel-area=north; hotel-name=rose-garden-house; hotel-book day=do not care",
                texts=' / a "room in the north\nwhich one ? / the rose-garden-house',
            ),
            _one(
                "PMUL9002.json",
                "hotel-area=none; hotel-name=none; hotel-book day=none",
                texts=' / hello "there" ',
            ),
        ],
        both=False,
    ),
    Sample(
        "star-tsv/sumbt.tsv",
        "star-tsv",
        [
            _one(
                "MUL9001.json",
                "hotel-price range=none; taxi-arrive by=none",
                "hotel-price range=cheap; taxi-arrive by=10:15",
                texts=' / A "room\nWhich one? / Cheap',
            ),
            _one("PMUL9002.json", "hotel-price range=not mentioned; taxi-arrive by=do not care", texts=" / Hello"),
        ],
        both=False,
    ),
    Sample(
        "dsteval-json/states.json",
        "dsteval-json",
        [
            Dialogue(
                "MUL9001.json",
                [
                    Turn(0, pred=[]),
                    Turn(1, pred=items("hotel-area=north; hotel-name=rose-garden; hotel-stars=do n't care")),
                    Turn(
                        2,
                        pred=[
                            *items("hotel-area=north+the north; hotel-name=rose-garden-house; hotel-stars=none"),
                            ("train-day", None),
                        ],
                    ),
                ],
                keyed=False,
            ),
            _one("PMUL9002.json", "train-day=friday; train-book people=2", "train-day=not mentioned", keyed=False),
        ],
        both=False,
    ),
    Sample(
        "dsteval-json/by_turn.json",
        "dsteval-json",
        [
            _one(
                "MUL9001.json",
                "",
                "hotel-area=north; hotel-name=rose-garden",
                "hotel-name=rose-garden-house; hotel-stars=none",
            ),
            Dialogue(
                "PMUL9002.json",
                [Turn(0, pred=items("train-day=dontcare")), Turn(2, pred=items("train-day=not mentioned"))],
            ),
        ],
        both=False,
    ),
    Sample(
        "dsteval-jsonl/changes.jsonl",
        "dsteval-jsonl",
        [
            Dialogue(
                "MUL9001.json",
                [
                    Turn(0, pred=items("hotel-area=north")),
                    Turn(
                        2,
                        pred=[("hotel-area", None), *items("hotel-name=rose-garden-house; hotel-stars=[DELETE]")],
                    ),
                ],
                updates=("pred",),
            ),
            Dialogue(
                "9002",
                [Turn(0, pred=items("train-day=none; train-leaveat=10:15+10-15"))],
                updates=("pred",),
            ),
        ],
        both=False,
    ),
    Sample(
        "dstc10/labels.json",
        "dstc10",
        [
            _one("0", "hotel-area=Dogpatch+", alone=True),
            _one("1", "", alone=True),
            _one(
                "2",
                "hotel-area=Dogpatch+dontcare; hotel-name=Rose-Garden+; hotel-book people=2+; hotel-book "
                "day=none+; restaurant-book time=not mentioned+",
                alone=True,
            ),
        ],
        both=False,
    ),
    Sample(
        "table/semicolons.csv",
        "table",
        [
            Dialogue(
                "MUL9001.json",
                [
                    Turn(0, pred=items("hotel-area=north"), user="a room; in the north"),
                    Turn(1, pred=items("hotel-area=dontcare; hotel-name=rose-garden-house"), user="bye"),
                ],
            ),
            Dialogue(
                "PMUL9002.json",
                [
                    Turn(0, pred=items("hotel-area=none; hotel-name=not mentioned"), user="hello"),
                    Turn(1, pred=[], user="hello"),
                ],
            ),
        ],
        both=False,
    ),
]
"""Files with one side, with marks, or with a shape of their own."""

SAMPLES = [*STORIES, *OTHERS]

SETSUMBT = Sample(
    "convlab/setsumbt.json",
    "convlab",
    [
        _two(
            "multiwoz21-test-1",
            ("hotel-area=north; hotel-name=; train-day=", "hotel-area=; hotel-name=; train-day="),
            (
                "hotel-area=north; hotel-name=rose-garden-house; train-day=do not care",
                "hotel-area=north; hotel-name=rose-garden; train-day=do not care",
            ),
        ),
        _two("multiwoz21-test-2", ("", "")),
    ],
)
"""ConvLab-3's setSUMBT, which looks like a list of our own JSON Lines as well."""
