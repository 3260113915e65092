"""Words that the baseline knows before it sees any data: common English for slots, values and domains."""

from __future__ import annotations

__all__ = ["BUNDLED", "COMMON", "CUES", "DOMAINS", "EMPTY", "OPENERS", "SHORTENED", "SYNONYMS"]

BUNDLED: dict[str, tuple[str, ...]] = {
    "attraction-area": ("centre", "east", "north", "south", "west"),
    "attraction-name": (),
    "attraction-type": (
        "architecture", "boat", "cinema", "college", "concerthall", "entertainment", "multiple sports", "museum",
        "nightclub", "park", "swimming pool", "theatre",
    ),
    "hotel-area": ("centre", "east", "north", "south", "west"),
    "hotel-book day": ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    "hotel-book people": ("1", "2", "3", "4", "5", "6", "7", "8"),
    "hotel-book stay": ("1", "2", "3", "4", "5"),
    "hotel-internet": ("yes", "no"),
    "hotel-name": (),
    "hotel-parking": ("yes", "no"),
    "hotel-pricerange": ("cheap", "expensive", "moderate"),
    "hotel-stars": ("0", "1", "2", "3", "4", "5"),
    "hotel-type": ("guesthouse", "hotel"),
    "restaurant-area": ("centre", "east", "north", "south", "west"),
    "restaurant-book day": ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    "restaurant-book people": ("1", "2", "3", "4", "5", "6", "7", "8"),
    "restaurant-book time": (),
    "restaurant-food": (),
    "restaurant-name": (),
    "restaurant-pricerange": ("cheap", "expensive", "moderate"),
    "taxi-arriveby": (),
    "taxi-departure": (),
    "taxi-destination": (),
    "taxi-leaveat": (),
    "train-arriveby": (),
    "train-book people": ("1", "2", "3", "4", "5", "6", "7", "8"),
    "train-day": ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    "train-departure": ("cambridge",),
    "train-destination": ("cambridge",),
    "train-leaveat": (),
}  # fmt: skip
"""The closed values of MultiWOZ's slots, used where neither a schema nor training states are given."""

SYNONYMS: dict[str, tuple[str, ...]] = {
    "cheap": ("inexpensive", "budget", "low cost", "low priced", "affordable", "cheaper", "cheapest", "low price",
              "cheaply"),
    "moderate": ("moderately", "mid range", "medium", "mid priced", "reasonably", "reasonable", "midrange",
                 "intermediate", "average priced"),
    "expensive": ("upscale", "high end", "fancy", "pricey", "high priced", "luxury", "luxurious", "posh",
                  "high class", "upper class"),
    "pricey": ("expensive", "upscale", "high end"),
    "ultra high-end": ("very expensive", "luxury", "ultra high end"),
    "centre": ("center", "central", "centrally", "downtown", "middle of town"),
    "north": ("northern", "northside", "north side", "northend"),
    "south": ("southern", "southside", "south side", "southend"),
    "east": ("eastern", "eastside", "east side", "eastend"),
    "west": ("western", "westside", "west side", "westend"),
    "guesthouse": ("guest house", "b and b", "bed and breakfast"),
    "museum": ("gallery", "galleries"),
    "swimming pool": ("pool", "swim", "swimming", "swimmingpool"),
    "multiple sports": ("sports", "sport", "multi sport"),
    "nightclub": ("night club", "club", "clubbing", "nightclubs"),
    "theatre": ("theater", "a play"),
    "cinema": ("movie theater", "movie", "film"),
    "boat": ("boating", "punting"),
    "architecture": ("architectural",),
    "concerthall": ("concert hall", "concert"),
    "asian oriental": ("asian", "oriental"),
    "north american": ("american",),
    "portugese": ("portuguese",),
    "mediterranean": ("mediteranean",),
    "steakhouse": ("steak house", "steak"),
    "barbeque": ("barbecue", "bbq"),
    "gastropub": ("gastro pub", "pub food"),
    "centre of town": ("town centre",),
    "london kings cross": ("kings cross", "london kings", "london"),
    "london liverpool street": ("liverpool street", "london liverpool"),
    "birmingham new street": ("birmingham",),
    "stansted airport": ("stansted",),
    "bishops stortford": ("bishop stortford",),
    "kings lynn": ("king lynn", "lynn"),
    "economy": ("coach",),
    "museums": ("museum",),
    "place of worship": ("church", "churches", "temple"),
    "tv": ("television",),
    "savings": ("saving",),
    "music": ("concert", "concerts"),
    "sports": ("game", "games", "match"),
    "psychologist": ("psychologists",),
}  # fmt: skip
"""Other words for a value, used wherever a slot has the value."""

SHORTENED = (
    "restaurant", "hotel", "guest house", "guesthouse", "bed and breakfast", "museum", "college", "cambridge",
    "church", "nightclub", "country park", "cafe", "brasserie", "cinema", "gallery", "b and b", "lodge",
    "restaurant and coffee bar", "cafe bar", "pizzeria", "swimming pool", "theatre", "and spa", "house",
)  # fmt: skip
"""Endings of names that people leave out."""

DOMAINS: dict[str, tuple[str, ...]] = {
    "hotel": ("hotel", "hotels", "guesthouse", "guesthouses", "guest house", "guest houses", "lodging", "room",
              "rooms", "accommodation", "accommodations", "accomodation", "accomodations", "place to stay",
              "somewhere to stay", "places to stay", "night", "nights", "stay at", "stay for", "staying", "stars",
              "star", "motel", "inn"),
    "restaurant": ("restaurant", "restaurants", "food", "eat", "dine", "dining", "cuisine", "table", "lunch",
                   "dinner", "meal", "eatery", "place to eat", "restaraunt", "resturant", "eating"),
    "attraction": ("attraction", "attractions", "places to go", "place to go", "places to visit",
                   "place to visit", "things to do", "something to do", "sightseeing", "tourist", "entertainment",
                   "places to see", "place to see", "to see", "to do in",
                   "something interesting", "go somewhere", "fun", "things to see", "sights", "museum", "museums",
                   "college", "colleges", "park", "church", "theatre", "cinema", "nightclub", "gallery"),
    "taxi": ("taxi", "taxis", "cab", "cabs", "taxicab", "a ride"),
    "train": ("train", "trains", "train ticket", "train tickets", "railway"),
    "bus": ("bus", "buses"),
    "hospital": ("hospital",),
    "police": ("police",),
    "alarm": ("alarm", "alarms", "wake"),
    "bank": ("bank", "balance", "transfer", "account", "checking", "savings", "money"),
    "event": ("event", "events", "concert", "concerts", "game", "games", "match", "show"),
    "flight": ("flight", "flights", "fly", "flying", "airline", "plane", "flights"),
    "home": ("apartment", "apartments", "house", "home", "property", "bedroom", "rent a place"),
    "media": ("movie", "movies", "film", "films", "watch"),
    "movie": ("movie", "movies", "film", "films", "theater", "cinema"),
    "music": ("song", "songs", "music", "listen", "tune", "track"),
    "rentalcar": ("car", "cars", "rental", "vehicle"),
    "ridesharing": ("ride", "cab", "taxi", "share"),
    "service": ("therapist", "doctor", "dentist", "stylist", "salon", "psychologist", "psychiatrist",
                "counselor", "appointment"),
    "travel": ("attraction", "attractions", "things to do", "sightseeing", "places to visit", "tourist",
               "interesting places", "places to see", "place to visit"),
    "weather": ("weather", "forecast", "temperature", "rain", "wind", "humidity", "humid"),
    "calendar": ("calendar", "schedule", "meeting"),
    "payment": ("payment", "pay", "send money"),
}  # fmt: skip
"""Words that announce a domain, under the domain's name without number and plural."""

CUES: dict[str, tuple[str, ...]] = {
    "area": ("area", "part of town", "side of town", "location", "where in", "part of the city", "areas",
             "part", "located", "section of town"),
    "pricerange": ("price", "prices", "priced", "expensive", "price range", "cost", "budget", "pricing"),
    "price": ("price", "priced", "cost", "budget"),
    "food": ("food", "cuisine", "type of food", "kind of food", "cuisines", "foods"),
    "type": ("type", "kind", "types", "kinds", "sort of", "guesthouse or", "hotel or", "category"),
    "stars": ("star", "stars", "star rating", "rating", "rated"),
    "parking": ("parking", "park your car", "park my car", "car park"),
    "internet": ("internet", "wifi", "wi fi", "wireless"),
    "wifi": ("internet", "wifi", "wi fi", "wireless"),
    "day": ("day", "days", "when", "what date", "date"),
    "date": ("date", "day", "when"),
    "time": ("time", "when", "what hour", "times"),
    "people": ("how many people", "people", "how many tickets", "guests", "party", "how many", "tickets",
               "seats", "just you", "just one", "number of"),
    "stay": ("how long", "nights", "how many nights", "how many days", "length of", "duration", "long"),
    "arriveby": ("arrive", "arrival", "arriving", "get there", "reach"),
    "leaveat": ("leave", "departure time", "depart", "leaving", "travel time", "time", "departing", "when",
                "picked up"),
    "departure": ("where are you departing", "departing from", "leaving from", "coming from", "depart from",
                  "where will you be leaving", "where from", "departure station", "departure", "leave from",
                  "pick you up", "picked up", "where are you leaving", "pickup", "pick up", "from where",
                  "where would you like to leave", "where are you coming", "traveling from", "travelling from",
                  "starting", "where will you be departing", "where would you like to depart"),
    "destination": ("destination", "going to", "headed", "heading", "travel to", "where to", "going",
                    "traveling to", "travelling to", "arrive at", "where would you like to go", "drop",
                    "where would you like to travel", "where will you be traveling", "dropped"),
    "name": ("name", "particular hotel", "particular restaurant", "which one", "which", "specific place"),
    "origin": ("where are you", "leaving from", "departing from", "depart from", "from", "origin", "departure"),
    "from": ("from", "leaving", "departing", "departure", "origin"),
    "to": ("to", "destination", "going", "heading"),
    "city": ("city", "where", "town", "area", "location", "which city"),
    "location": ("where", "city", "location", "area", "place", "which city"),
    "passengers": ("how many", "passengers", "tickets", "people"),
    "travelers": ("how many", "travelers", "tickets", "people"),
    "seats": ("how many", "seats", "tickets", "people"),
    "riders": ("how many", "people", "passengers", "riders"),
    "rooms": ("rooms", "how many rooms"),
    "beds": ("bed", "beds", "bedroom", "bedrooms"),
    "baths": ("bath", "baths", "bathroom", "bathrooms"),
    "genre": ("genre", "kind", "type", "style", "sort"),
    "category": ("category", "kind", "type", "sort", "what type", "cuisine", "interested in"),
    "subcategory": ("kind", "type", "which sport", "genre"),
    "directed": ("directed", "director"),
    "director": ("director", "directed"),
    "starring": ("actor", "actors", "starring", "acted", "cast"),
    "actors": ("actor", "actors", "starring", "acted", "cast"),
    "artist": ("artist", "singer", "band", "sung", "sings"),
    "subtitle": ("subtitle", "subtitles"),
    "playback": ("device", "speaker", "play it on", "where"),
    "amount": ("amount", "how much"),
    "recipient": ("who", "recipient", "whom"),
    "account": ("account",),
    "class": ("class", "economy", "seating"),
    "airlines": ("airline", "airlines"),
    "furnished": ("furnished",),
    "pets": ("pets", "pet", "cat", "dog"),
    "smoking": ("smoking", "smoke"),
    "outdoors": ("outdoor", "outdoors", "outside"),
    "vegetarian": ("vegetarian",),
    "shared": ("share", "shared", "pool"),
    "kids": ("kids", "kid", "children", "child"),
    "free": ("free", "entry fee", "no cost"),
    "pickup": ("pick up", "pickup", "picking"),
    "dropoff": ("drop off", "dropoff", "return"),
    "return": ("return", "come back", "coming back", "returning"),
    "title": ("title", "movie", "which", "name"),
}  # fmt: skip
"""What people say when they speak of a slot whose name has the word."""

COMMON = (
    "the a an and of in at to for on is it free city town house station street road good nice new old all one "
    "two no place india indian chinese thai spanish italian british food bar club park pool art world express "
    "centre cambridge university hotel restaurant museum college church ask regent backstreet home cheap hills "
    "river north south east west boat guest guesthouse museums center pub yes pizza lodge gallery cinema "
    "theatre attraction bed breakfast b any entertainment architecture nightclub swimming train taxi airport "
    "hall night hot some from other"
)
"""Words that make no name by themselves."""

EMPTY = (
    "has of for good number is next new in allowed arrives at on the options book by checked per night event "
    "hotel place restaurant movie song property therapist attraction approximate ride aggregate total entry"
)
"""Words of slots' names that do not tell the slot."""

OPENERS = (
    "i im ive ill id yes yeah no nope ok okay sure please what when where which who how can could would will do "
    "does did is are the a an and but that this it its thanks thank great good hi hello hey find get book my me "
    "we you your for in on at to also actually maybe perhaps any anything sounds perfect cool fine nice yep yup "
    "nah not make there let lets reserve search show look looking something just well so oh awesome wonderful "
    "right correct from with have has had if or need want like set add change play rent buy alright all some "
    "other another more as of here nothing monday tuesday wednesday thursday friday saturday sunday january "
    "february march april may june july august september october november december am pm give tell try go "
    "goodbye bye thats whats hes shes theres youre dont confirming confirm playing booking sorry congrats "
    "unfortunately about then shall should was were ah um ummm exactly ready anyway cheers aye one works read "
    "using"
)
"""Words that sentences start with, in capitals and yet no names."""
