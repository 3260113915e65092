"""The naive oracle's settings of every protocol that plain settings can say."""

from typing import Any

Settings = dict[str, Any]

DONT = ["dont", "don't", "do n't", "do nt", "do not", "does not", "doesn't"]
DONTCARE = ["dontcare", *(f"{dont} care" for dont in DONT)]

EXACT: Settings = {
    "literal": False,  # values as written: no folding, no alternatives
    "normalised": "",  # which sides the caller's normaliser is applied to: "both", "ref" or neither
    "absent": ["", "none", "not mentioned"],  # values that mean "slot not set", on both sides
    "absent_ref": [],  # the same in the reference only
    "as_written": False,  # whether turns keep the numbers of the file
    "left_out": [],  # dialogues not scored: lower case, without ".json"
    "variant": "official",  # of FGA and TurnMatch
    "split": "first",  # of SlotAccuracy: "first" is Eq. 1, "last" is TRADE's rule
    "rsa_split": "first",  # the same of RSA
    "own": {},  # other parameters of metrics that are not at their defaults
    "means": {},  # names of metrics that stand for others
    "n_slots": None,  # |S|; None leaves it to the caller
}
LITERAL: Settings = {**EXACT, "literal": True, "absent": [], "n_slots": 30}
TRADE: Settings = {**LITERAL, "normalised": "ref", "split": "last"}
PROTOCOLS: dict[str, Settings] = {
    "exact": EXACT,
    "normalised": {**EXACT, "normalised": "both"},
    "card": EXACT,
    "card-recipe": {
        **LITERAL,
        "n_slots": None,
        "means": {"JGA": "RecipeJGA"},
        "absent_ref": ["", "not mentioned"],
    },
    "convlab-t5": {
        **LITERAL,
        "n_slots": None,
        "normalised": "both",
        "absent": [""],
        "absent_ref": ["none", "not mentioned"],
    },
    "fga-official": {**LITERAL, "split": "last", "as_written": True},
    "fga-paper": {**LITERAL, "variant": "paper"},
    "fga-trippy": {
        **EXACT,
        "literal": True,
        "n_slots": 30,
        "variant": "trippy",
        "left_out": ["pmul1455"],
        "as_written": True,
    },
    "gca": {
        **LITERAL,
        "split": "last",
        "rsa_split": "last",
        "absent": ["none"],
        "own": {"empty": "zero", "none": "value"},
    },
    "simpletod-v1": {**EXACT, "literal": True, "absent": [*EXACT["absent"], "dontcare"]},
    "somdst": {**TRADE, "absent_ref": ["none"]},
    "t5dst": {**TRADE, "n_slots": 35},
    "trade": TRADE,
}
