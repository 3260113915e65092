"""Joint goal accuracy: the share of turns whose whole state is right."""

from dsteval.metrics.base import AVERAGE, TURNS, AveragedMetric
from dsteval.metrics.counting import Counts, at_turns, per_dialogue
from dsteval.outcomes.table import Outcomes


class _JGA(AveragedMetric):
    """Share of turns at which the predicted state equals the reference state.

    Formula: |{t : B_t = P_t}| / turns, over all turns of the corpus; ``average=dialogue`` is the mean over
    dialogues of each dialogue's own share, ``turns=last`` looks at the last turn of each dialogue only (SOM-DST's
    final joint accuracy). Unit: fraction, 0..1, higher is better. An empty state that is predicted empty is
    right. NaN without turns.

    Differs from: scorers that look only at the slots in the reference (false positives unseen), that drop
    dontcare or none, or that multiply fuzzy scores; each has a protocol of its own.

    >>> import dsteval
    >>> ref = {"d": [{}, {"hotel-area": "north"}]}
    >>> pred = {"d": [{}, {"hotel-area": "south"}]}
    >>> dsteval.evaluate(ref, pred, metrics=["JGA"])["JGA"].value
    0.5

    Reference: Henderson, Thomson and Williams, SIGDIAL 2014 (joint goal); Wu et al., ACL 2019 (TRADE).
    """

    about = "share of turns whose whole state is right"
    parameters = {"average": AVERAGE, "turns": TURNS}

    def turn_count(self, outcomes: Outcomes) -> Counts:
        """Columns: turns, turns that are exact."""
        outcomes = at_turns(outcomes, self.get("turns"))
        return per_dialogue(outcomes, 1, outcomes.exact)


JGA = _JGA()
