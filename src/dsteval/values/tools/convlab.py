"""ConvLab-3's one normalisation of values."""


def squeeze(slot: str, value: str) -> str:
    """A value without any white space, in lower case.

    >>> squeeze("hotel-name", " Acorn Guest House")
    'acornguesthouse'

    Source: ConvLab/ConvLab-3 convlab/dst/evaluate_unified_datasets.py.
    """
    return "".join(value.split()).lower()
