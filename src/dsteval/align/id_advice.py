"""Dialogue ids without a partner; if none meet, they are shown side by side, with what would make them match."""

from collections.abc import Callable, Sequence

from dsteval.dialogue import canonical_id
from dsteval.errors import AlignmentError, first_few

_CUTS: dict[str, Callable[[str], str]] = {
    "without their folder names": lambda key: key.rpartition("/")[2],
    "without the part after the last '-'": lambda key: key.rpartition("-")[0],
    "without the part after the last '_'": lambda key: key.rpartition("_")[0],
    "without the part before the last '-'": lambda key: key.rpartition("-")[2],
    "without the part before the last '_'": lambda key: key.rpartition("_")[2],
    "by digits only": lambda key: "".join(filter(str.isdigit, key)).lstrip("0"),
    "by letters and digits only": lambda key: "".join(filter(str.isalnum, key)),
}


def no_overlap(source: str, ref: list[str], pred: list[str]) -> AlignmentError:
    """The error for two sides without a common dialogue, with what would make their ids match."""
    refs, preds = [canonical_id(name) for name in ref], [canonical_id(name) for name in pred]
    return AlignmentError(
        where=source,
        found=f"none of the {len(pred)} predicted dialogues is in the reference "
        f"(reference {', '.join(ref[:3])}; predictions {', '.join(pred[:3])})",
        remedy=_advice(refs, preds),
    )


def _advice(refs: list[str], preds: list[str]) -> str:
    enough = min(len(refs), len(preds)) / 2
    for told, cut in _CUTS.items():
        cut_refs, cut_preds = ({canonical_id(cut(key)) for key in keys} - {""} for keys in (refs, preds))
        for whose, common in (
            ("the ids of the predictions", cut_preds & set(refs)),
            ("the ids of the reference", cut_refs & set(preds)),
            ("all ids", cut_refs & cut_preds),
        ):
            # Numbers that not all dialogues have a different one of meet by chance.
            by_chance = "by digits only" in told and (len(common) < 1.8 * enough or len(cut_refs) < len(set(refs)))
            if len(common) >= enough and not by_chance:
                return f"They would match if {whose} were compared {told}."
    return "Check that both are from the same data set and split."


def check_partners(source: str, missing: Sequence[str], n_ref: int, extra: Sequence[str], n_pred: int) -> None:
    """Raise AlignmentError where reference dialogues are missing, or there are others, of so many on each side."""
    lacking, remedies = [], []
    for names, total, lacks, remedy in (
        (
            missing,
            n_ref,
            "reference dialogues have no prediction",
            "score the missing ones as empty with --missing empty, or leave them out with --missing skip",
        ),
        (
            extra,
            n_pred,
            "predicted dialogues are not in the reference",
            "ignore the extra ones with --extra ignore",
        ),
    ):
        if names:
            lacking.append(f"{len(names)} of {total} {lacks} ({first_few(names)})")
            remedies.append(remedy)
    if lacking:
        raise AlignmentError(
            where=source,
            found=" and ".join(lacking),
            remedy=f"Check that both are from the same split, or {'; '.join(remedies)}.",
        )
