"""Hi-DST's log_test: ``gt`` and ``pr`` are the two states, ``pr_turn`` is what the tracker changed at the turn.

Hi-DST's own script scores what it adds up from ``pr_turn``, whose spelling may differ from that of ``pr``.
"""

from dsteval.readers.json_format import JsonFormat

HIDST = JsonFormat(
    name="hidst",
    about='Hi-DST log_test: {dialogue: {turn: {"gt": {slot: value}, "pr": {...}, "pr_turn": {...}, ...}}}',
    sign="turns with 'gt', 'pr' and 'pr_turn'",
    expected="an object with gt, pr and pr_turn",
    needed=("gt", "pr", "pr_turn"),
    ref="gt",
    pred="pr",
    update="pr_turn",
    system="a_sys",
    user="a_usr",
    ordered=True,
)
