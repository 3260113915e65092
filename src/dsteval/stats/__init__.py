"""How sure a number is: intervals, paired tests, rankings, power and agreement, all from counts per dialogue.

Pure functions. ``counts`` are additive columns [dialogues, columns] as ``Metric.count`` gives them, ``value`` is
``Metric.value``: sums [..., columns] to numbers [...], NaN where the metric is undefined. The dialogue is what is
drawn, left out or swapped everywhere, since turns of one dialogue share their errors.
"""
