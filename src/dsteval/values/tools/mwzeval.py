"""MultiWOZ_Evaluation: how it names slots, rewrites values and compares them."""

from functools import cache

from rapidfuzz.distance import Indel, Levenshtein

from dsteval.values.tables import table


def slot_name(name: str) -> str:
    """A slot's name as the scorer compares it: lower-case and without blanks after the domain, arrive, leave.

    Nothing else is evened out, so a "bookday" of one file does not meet the "day" of another.

    >>> slot_name("train-Arrive By"), slot_name("hotel-book day"), slot_name("hotel-price range")
    ('train-arrive', 'hotel-bookday', 'hotel-pricerange')
    """
    domain, hyphen, slot = name.partition("-") if "-" in name else ("", "", name)
    slot = slot.lower().replace(" ", "")
    return f"{domain}{hyphen}{table('mwzeval')['rename'].get(slot, slot)}"


@cache
def spelling(name: str) -> str:
    """The slot name that the scorer compares for one that a reader gives.

    data.json keeps bookings under "book", which our names tell as "book day": the script has "day" there, while
    "bookday", as MultiWOZ 2.2 writes it, is another slot to it.

    >>> spelling("hotel-book day"), spelling("hotel-bookday"), spelling("train-leave at")
    ('hotel-day', 'hotel-bookday', 'train-leave')
    """
    return slot_name(name.replace("-book ", "-"))


def _without(time: str, *endings: str) -> str:
    """A time without those of the endings that it has, one after the other."""
    for ending in endings:
        if time.endswith(ending):
            time = time.removesuffix(ending).strip()
    return time


def _time(value: str) -> str:
    rules = table("mwzeval")
    time = value.strip().lower()
    if time in rules["time"]:
        return str(rules["time"][time])
    for beginning, result in rules["time_begins"].items():
        if time.startswith(beginning):
            return str(result)
    if time.startswith("by"):
        time = time[3:]  # the character after the word goes too, whatever it is
    for word in ("after", "afer"):
        if time.startswith(word):
            time = time.removeprefix(word).strip()
    time = _without(time, "am", "a.m.")
    if not time.endswith(("pm", "p.m.")):
        return _digits(time)
    time = _without(time, "pm", "p.m.")
    hour, *minutes = time.split(":")
    if len(minutes) > 1 or not (minutes or hour.isdigit()):
        return _digits(time)
    try:
        return f"{int(hour) + 12}:{minutes[0] if minutes else '00'}"
    except ValueError:
        return value  # the script stops here


def _digits(time: str) -> str:
    """A time that holds no words any more, as HH:MM where its shape allows."""
    if not time:
        return "00:00"
    if time[-1] in ".,?":
        time = time[:-1]
    if time.isdigit():
        return f"{time[:2]}:{time[2:]}" if len(time) == 4 else f"{time.zfill(2)}:00"
    if ":" in time:
        time = time.replace(" ", "")
    return "0" + time if len(time) == 4 and time[1] == ":" else time


def normalise(slot: str, value: str, *, bed_and_breakfast: str = "bed and breakfast") -> str:
    """A value of either side as the scorer rewrites it before comparing; which way, the slot's name decides.

    Names, destinations and departures, types, foods, times, parking and internet have rules; values of all other
    slots stay as they are, in case and blanks. As the script counts, 12:30 pm is 24:30 and an empty time is 00:00.
    Where an hour before pm is no number the script stops with an error; here the value comes back unchanged.

    The name is taken as ``slot_name`` makes it, except that "restaurant-book time", our spelling of the files'
    "restaurant-time", is a time as well; "restaurant-booktime" is none, as in the script.

    >>> normalise("train-leaveAt", "after 3:00pm"), normalise("restaurant-time", "12:30 pm")
    ('15:00', '24:30')
    >>> normalise("hotel-name", "Huntingdon Hotel"), normalise("hotel-parking", "free")
    ('huntingdon marriott hotel', 'yes')

    Source: Tomiinek/MultiWOZ_Evaluation mwzeval/normalization.py.
    """
    rules, name = table("mwzeval"), spelling(slot)
    procedure = rules["procedure"].get(name.partition("-")[2] or name)
    if procedure is None:
        return value
    if procedure == "time":
        return _time(value)
    if procedure in ("name", "food"):
        value = value.strip().lower()
    if procedure == "name":
        value = value.replace(" & ", " and ").replace("&", " and ").replace(" '", "'")
        value = value.replace("bed and breakfast", bed_and_breakfast)
    return str(rules[procedure].get(value, value))


def normalise_2023(slot: str, value: str) -> str:
    """``normalise`` as it is since January 2023: in names, "bed and breakfast" is written "b and b".

    >>> normalise_2023("hotel-name", "Oak Bed & Breakfast"), normalise_2023("hotel-type", "bed and breakfast")
    ('oak b and b', 'bed and breakfast')
    """
    return normalise(slot, value, bed_and_breakfast="b and b")


def partial_ratio(ref: str, pred: str) -> int:
    """How much of the shorter text is found in one piece of the longer one, from 0 to 100.

    For every matching block of the edit script from the shorter text to the longer one, the piece of the longer
    that begins where the shorter would, of its length, is compared by 2 x LCS / (sum of lengths); the best piece
    counts, rounded to an integer, and above 0.995 it is 100. Texts that are equal give 100, else an empty one
    gives 0; of two texts of one length the prediction counts as the shorter.

    This is fuzzywuzzy's function on top of python-Levenshtein. rapidfuzz's function of that name looks at every
    piece, finds better ones and returns a fraction: with it the scores come out higher.

    >>> partial_ratio("northeast", "north"), partial_ratio("abxd", "abcd"), partial_ratio("abc", "")
    (100, 75, 0)
    """
    if pred == ref:
        return 100
    if not pred or not ref:
        return 0
    shorter, longer = (ref, pred) if len(ref) < len(pred) else (pred, ref)
    best = 0.0
    for block in Levenshtein.editops(shorter, longer).as_matching_blocks():
        start = max(0, block.b - block.a)
        best = max(best, Indel.normalized_similarity(shorter, longer[start : start + len(shorter)]))
    return 100 if best > 0.995 else round(100 * best)


def matches(ref: str, pred: str) -> bool:
    """Whether the scorer takes a predicted value for right: ``partial_ratio`` above 95.

    >>> matches("the cityroomz", "cityroomz"), matches("10", "1"), matches("north", "south")
    (True, True, False)
    """
    return partial_ratio(ref, pred) > 95
