"""Entities: names, dates, times, money, addresses, emoticons; nouns with what belongs to them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphneg.english import gazetteer as known
from graphneg.english.gazetteer import QUANTITY_KINDS, TEMPORAL_UNITS
from graphneg.english.numbers import number_value, ordinal_value
from graphneg.english.words import word_set_word_sets as word_set
from graphneg.parsers.dependency.draft import Word, quoted
from graphneg.parsers.dependency.rules.sketch import OFFICES, Sketch

# Entities of several words: names, dates, times, money, numbers, addresses, emoticons.


_CLOCK = re.compile(r"\d{1,2}[:.]\d{2}(?:[ap]\.?m\.?)?|\d{1,2}[ap]\.?m\.?", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+\.\w+")
_PERIODS = {"am": "morning", "a.m.": "morning", "pm": "afternoon", "p.m.": "afternoon", "a.m": "morning"}
_ORDINAL_DAY = re.compile(r"(?:[12]?\d|3[01])(?:st|nd|rd|th)")
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_PROPER = frozenset({"NNP", "NNPS"})
_NO_NAMES = word_set(
    "there here this that these those it he she we they you i what how who where when why if but and"
)
"""Words that taggers take for names where they begin a sentence that no full stop goes before."""
_COUNTING = word_set(
    "count number rate score mark grade range scale vary go rise grow increase fall drop shrink sink "
    "decrease decline cut reduce raise lower change turn multiply add"
)


def write_entities(sketch: Sketch) -> None:
    """Writes what is recognised by its own words; those words are done."""
    words = sketch.words
    i = 0
    while i < len(words):
        i += _entity(sketch, words[i]) or 1


def _entity(sketch: Sketch, word: Word) -> int:
    """The number of words taken, 0 where none is an entity's."""
    if word.tag == "CD" or word.tag == "$" or word.text in known.MONEY:
        taken = _write_amount(sketch, word)
        if taken:
            return taken
    if word.lower in known.WEEKDAYS or (word.lower in known.MONTHS and word.tag in _PROPER):
        return _write_date(sketch, word)
    if _ADDRESS.fullmatch(word.text):
        node = sketch.add("email-address-entity" if "@" in word.text else "url-entity", word.i, "address")
        sketch.mark(node, "value", quoted(word.text), word.i, "address")
        sketch.done.add(word.i)
        return 1
    if _ORDINAL_DAY.fullmatch(word.lower) and word.tag in {"NN", "NNP"} and word.dep != "compound":
        node = sketch.add("date-entity", word.i, "date")
        sketch.mark(node, "day", ordinal_value(word.lower) or "1", word.i, "date")
        sketch.done.add(word.i)
        return 1
    if word.text in known.EMOTICONS or (
        len(word.text) <= 2 and ord(word.text[0]) >= 0x2600 and not word.text.isalnum()
    ):
        node = sketch.add("emoticon", word.i, "emoticon")
        sketch.mark(node, "value", quoted(word.text), word.i, "emoticon")
        sketch.done.add(word.i)
        return 1
    if word.tag in {"JJ", "NNP", "NNPS", "NNS", "NN"} and word.text[:1].isupper():
        nation = known.NATIONALITIES.get(word.lower)
        if nation is not None and not (
            word.lower in known.LANGUAGES and word.dep in {"dobj", "pobj", "nsubj"}
        ):
            _write_name(sketch, "country", [word], word, [nation])
            return 1
    if word.tag in _PROPER and _is_name(sketch, word):
        return _write_proper(sketch, word)
    return 0


def _is_name(sketch: Sketch, word: Word) -> bool:
    """A capitalised word that no table knows as a common one."""
    if not word.text[:1].isupper() or word.lower in _NO_NAMES:
        return False
    first = (
        word.i == 0
        or sketch.words[word.i - 1].sentence != word.sentence
        or sketch.words[word.i - 1].tag == "``"
    )
    lexicon = sketch.lexicon
    common = (word.lemma, "n") in lexicon.concepts or (word.lower, "uh") in lexicon.concepts
    common = common or any((pos, word.lower) in lexicon.aliases for pos in "vnj") or word.lower in OFFICES
    if word.text.isupper() and len(word.text) > 1:
        return not common and not word.lower.endswith("ing")
    return not (first and common)


def _write_proper(sketch: Sketch, word: Word) -> int:
    words = sketch.words
    run = [word]
    while run[-1].i + 1 < len(words):
        after = words[run[-1].i + 1]
        named = after.tag in _PROPER and after.text[:1].isupper() and after.lower not in _NO_NAMES
        if (named and after.sentence == word.sentence) or (
            after.tag == "CD" and after.head in {one.i for one in run} and len(run) < 4
        ):
            run.append(after)
        else:
            break
    head = next((one for one in run if not run[0].i <= one.head <= run[-1].i or one.head == one.i), run[-1])
    lowers = [one.lower for one in run]
    texts = [one.text for one in run]
    kind = _kind(sketch, run, lowers, head)
    before = words[word.i - 1] if word.i else None
    if before is not None and before.tag == "NN" and run[0].i <= before.head <= run[-1].i:
        kind = before.lemma
        sketch.done.add(before.i)
        sketch.stand_in[before.i] = head.i
    _write_name(sketch, kind, run, head, texts)
    return len(run)


def _kind(sketch: Sketch, run: list[Word], lowers: list[str], head: Word) -> str:
    whole = " ".join(lowers)
    last = lowers[-1]
    if whole in known.COUNTRIES or last in {"states", "kingdom"}:
        return "country"
    if whole in known.CITIES or whole in {
        "new york",
        "los angeles",
        "san francisco",
        "las vegas",
        "hong kong",
    }:
        return "city"
    if whole in known.STATES:
        return "state"
    if whole in known.CONTINENTS:
        return "continent"
    if last in known.FESTIVALS or last in {"day", "eve", "festival"}:
        return "festival"
    if whole in known.LANGUAGES:
        return "language"
    if last in known.PLACE_KINDS and len(run) > 1:
        return last
    if whole in {"earth", "mars", "venus", "jupiter"}:
        return "planet"
    preposition = sketch.words[head.head]
    if head.dep == "pobj" and preposition.lower in {"in", "at"} and lowers[0] not in known.TITLES:
        return "city" if preposition.lower == "in" else "organization"
    return "person"


def _write_name(sketch: Sketch, kind: str, run: list[Word], head: Word, texts: list[str]) -> None:
    entity = sketch.draft.concept(kind, run[0].i, "name", last=run[-1].i)
    name = sketch.draft.concept("name", run[0].i, "name", last=run[-1].i)
    sketch.link(entity, "name", name, "name")
    for n, text in enumerate(texts, 1):
        at = run[n - 1].i if len(texts) == len(run) else head.i
        op = sketch.draft.constant(quoted(text), at, "name")
        sketch.link(name, f"op{n}", op, "name")
    _stand_for(sketch, entity, run, head)


def _stand_for(sketch: Sketch, node: int, run: Sequence[Word], head: Word) -> None:
    """The node is what all words of the run stand for; the head says where."""
    sketch.draft.nodes[node].token = head.i
    sketch.core[head.i] = sketch.outer[head.i] = node
    for one in run:
        sketch.done.add(one.i)
        if one.i != head.i:
            sketch.stand_in[one.i] = head.i


def _write_date(sketch: Sketch, word: Word) -> int:
    """*Monday*, *June 12*, *June 12, 1990*."""
    node = sketch.add("date-entity", word.i, "date")
    sketch.done.add(word.i)
    if word.lower in known.WEEKDAYS:
        day = sketch.draft.concept(word.lower, word.i, "date")
        sketch.link(node, "weekday", day, "date")
        return 1
    sketch.mark(node, "month", str(known.MONTHS[word.lower]), word.i, "date")
    taken = 1
    for after in sketch.words[word.i + 1 : word.i + 4]:
        number = after.lower if after.lower.isdigit() else ordinal_value(after.lower)
        if after.tag == "," and taken == 2:
            taken += 1
            continue
        if number is None or after.sentence != word.sentence:
            break
        role = "year" if _YEAR.fullmatch(number) else "day"
        sketch.mark(node, role, number, after.i, "date")
        sketch.done.add(after.i)
        sketch.stand_in[after.i] = word.i
        taken += 1
    return taken


def _write_amount(sketch: Sketch, word: Word) -> int:
    words = sketch.words
    after = words[word.i + 1] if word.i + 1 < len(words) else None
    if word.text in known.MONEY and word.tag != "CD":
        if after is None or after.tag != "CD":
            return 0
        run = _number_run(sketch, after)
        return 1 + _write_quantity(sketch, "monetary-quantity", known.MONEY[word.text], run, word, run[-1].i)
    if _CLOCK.fullmatch(word.text) or (after is not None and after.lower in {"o'clock", *_PERIODS}):
        return _write_clock(sketch, word, after)
    if _is_hour(sketch, word, after):
        return _write_clock(sketch, word, None)
    if _opens_hours(sketch, word):
        return _write_hours(sketch, word)
    if (
        _YEAR.fullmatch(word.text)
        and word.dep in {"pobj", "npadvmod"}
        and (after is None or after.tag[:2] != "NN")
    ):
        node = sketch.add("date-entity", word.i, "date")
        sketch.mark(node, "year", word.text, word.i, "date")
        sketch.done.add(word.i)
        return 1
    run = _number_run(sketch, word)
    if len(run) > 1:
        value = number_value(" ".join(one.lower for one in run))
        head = next((one for one in run if not run[0].i <= one.head <= run[-1].i), run[-1])
        node = sketch.draft.constant(value or "1", run[0].i, "number", last=run[-1].i)
        sketch.core[head.i] = sketch.outer[head.i] = node
        for one in run:
            sketch.done.add(one.i)
            if one.i != head.i:
                sketch.stand_in[one.i] = head.i
        return run[-1].i - word.i + 1
    return 0


def _is_hour(sketch: Sketch, word: Word, after: Word | None) -> bool:
    """*at 6*, *at seven*: an hour, where nothing is counted."""
    value = number_value(word.lower)
    hour = value is not None and value.isdigit() and 1 <= int(value) <= 12
    alone = (
        after is None
        or after.tag in {".", ",", "IN", "CC", "RB", "''"}
        or after.lower in {"tonight", "tomorrow"}
    )
    return hour and alone and word.dep == "pobj" and sketch.words[word.i - 1].lower == "at"


def _opens_hours(sketch: Sketch, word: Word) -> bool:
    """*from nine to five*: hours, where neither counts anything."""
    around = sketch.words[max(word.i - 1, 0) : word.i + 4]
    if len(around) < 4 or word.i == 0:
        return False
    before, _, between, last, *after = around
    alone = (
        not after or after[0].tag in {".", ",", "IN", "CC", "RB", "''"} or after[0].sentence != word.sentence
    )
    framed = before.lower == "from" and between.lower in {"to", "till", "until"}
    framed = framed and sketch.words[before.head].lemma not in _COUNTING
    return framed and alone and _hour(word) is not None and _hour(last) is not None


def _hour(word: Word) -> str | None:
    value = number_value(word.lower) if word.tag == "CD" else None
    return value if value is not None and value.isdigit() and 1 <= int(value) <= 12 else None


def _write_hours(sketch: Sketch, word: Word) -> int:
    run = sketch.words[word.i : word.i + 3]
    interval = sketch.draft.concept("date-interval", word.i, "time", last=run[-1].i)
    for n, one in enumerate((run[0], run[-1]), 1):
        hour = sketch.draft.concept("date-entity", one.i, "time")
        sketch.mark(hour, "time", quoted(f"{_hour(one)}:00"), one.i, "time")
        sketch.link(interval, f"op{n}", hour, "time")
    head = next((one for one in run if one.head not in {other.i for other in run}), run[-1])
    _stand_for(sketch, interval, run, head)
    return len(run)


def _number_run(sketch: Sketch, word: Word) -> list[Word]:
    """The numerals from here on that read as one number."""
    run = [word]
    for after in sketch.words[word.i + 1 : word.i + 8]:
        if after.text == "-" and after.i + 1 < len(sketch.words) and sketch.words[after.i + 1].tag == "CD":
            continue
        joined = " ".join(one.lower for one in (*run, after))
        if after.tag != "CD" or number_value(joined) is None or after.text[0].isdigit():
            break
        run.append(after)
    return run


def _write_quantity(sketch: Sketch, kind: str, unit: str, run: list[Word], sign: Word, last: int) -> int:
    node = sketch.draft.concept(kind, sign.i, "quantity", last=last)
    sketch.mark(
        node, "quant", number_value(" ".join(one.lower for one in run)) or run[0].lower, run[0].i, "quantity"
    )
    inner = sketch.draft.concept(unit, sign.i, "quantity")
    sketch.link(node, "unit", inner, "quantity")
    taken = [*run, sign]
    head = next((one for one in taken if one.head not in {other.i for other in taken}), run[-1])
    sketch.core[head.i] = sketch.outer[head.i] = node
    for one in taken:
        sketch.done.add(one.i)
        if one.i != head.i:
            sketch.stand_in[one.i] = head.i
    return len(run)


def _write_clock(sketch: Sketch, word: Word, after: Word | None) -> int:
    match = re.match(r"(\d{1,2})[:.]?(\d{2})?", word.lower)
    hour = f"{match[1]}:{match[2] or '00'}" if match else f"{number_value(word.lower) or word.lower}:00"
    node = sketch.add("date-entity", word.i, "time")
    sketch.mark(node, "time", quoted(hour), word.i, "time")
    sketch.done.add(word.i)
    taken = 1
    period = next((one for suffix, one in _PERIODS.items() if word.lower.endswith(suffix)), None)
    if after is not None and after.lower in {"o'clock", *_PERIODS}:
        period = _PERIODS.get(after.lower, period)
        sketch.done.add(after.i)
        sketch.stand_in[after.i] = word.i
        if after.head != word.i:
            sketch.stand_in.pop(after.i)
            sketch.core[after.i] = sketch.outer[after.i] = node
            sketch.core.pop(word.i)
            sketch.outer.pop(word.i)
            sketch.stand_in[word.i] = after.i
        taken = 2
    if period is not None:
        inner = sketch.draft.concept(period, word.i, "time")
        sketch.link(node, "dayperiod", inner, "time")
    return taken


# Nouns with what belongs to them: kin and office, units, ages.


_WEIGHTS = frozenset({"pound", "ounce"})
_WEIGHED = word_set("""
    weigh lose gain lift carry heavy heavier overweight underweight light lighter weight
""")
_MEASURED = frozenset({"mass-quantity", "volume-quantity"})
_SINGLE_UNITS = frozenset({"minute", "hour", "week", "month", "year", "decade", "century"})


def write_nominals(sketch: Sketch) -> None:
    """Quantities of units, and whose kin somebody is."""
    for noun, amount in sketch.amounts.items():
        if noun in sketch.core:
            sketch.link(sketch.core[noun], "quant", amount, "amount")
    for word in sketch.words:
        if word.tag in {"NN", "NNS"} and word.i in sketch.core and word.i not in sketch.done:
            if word.lemma in QUANTITY_KINDS and _is_amount(sketch, word):
                _write_quantity_nominals(sketch, word)
            elif word.lemma in TEMPORAL_UNITS and word.dep == "npadvmod" and _every(sketch, word):
                _write_rate(sketch, word)
            elif sketch.concept_of(word.i) == "person":
                _write_kin(sketch, word)


def _is_amount(sketch: Sketch, word: Word) -> bool:
    """Whether a number counts it; *one day* is no amount."""
    if word.lemma in _SINGLE_UNITS and any(one.lower in {"a", "an"} for one in sketch.kids(word.i, "det")):
        over = sketch.words[word.head]
        return word.dep in {"npadvmod", "ROOT"} or (
            word.dep == "pobj" and over.lower in {"for", "in", "within"}
        )
    if word.dep == "npadvmod" and any(one.lower == "one" for one in sketch.kids(word.i, "nummod")):
        return False
    return any(one.tag == "CD" and one.i in sketch.core for one in sketch.kids(word.i, "nummod"))


def _write_quantity_nominals(sketch: Sketch, word: Word) -> None:
    """*five years*: ``temporal-quantity :quant 5 :unit year``."""
    unit = sketch.core[word.i]
    sketch.draft.nodes[unit].concept = word.lemma
    measured = _measured(sketch, word)
    weight = word.lemma in _WEIGHTS and (measured is not None or _is_weight(sketch, word))
    concept = "mass-quantity" if weight else QUANTITY_KINDS[word.lemma]
    kind = sketch.draft.concept(concept, word.i, "quantity")
    sketch.link(kind, "unit", unit, "quantity")
    sketch.core[word.i] = sketch.outer[word.i] = kind
    if concept in _MEASURED and measured is not None:
        sketch.link(sketch.core[measured.i], "quant", kind, "amount")
        sketch.outer[word.i] = sketch.outer[measured.i]
        sketch.placed.add(measured.i)
    article = next((one for one in sketch.kids(word.i, "det") if one.lower in {"a", "an"}), None)
    if article is not None:
        sketch.mark(kind, "quant", "1", article.i, "quantity")


def _measured(sketch: Sketch, word: Word) -> Word | None:
    """What there is so much of: *three pounds of rice*."""
    of = next((one for one in sketch.kids(word.i, "prep") if one.lower == "of"), None)
    noun = sketch.kid(of.i, "pobj") if of is not None else None
    return noun if noun is not None and noun.i in sketch.core else None


def _is_weight(sketch: Sketch, word: Word) -> bool:
    """*weighs three pounds*, *three pounds too heavy*: no price."""
    over = sketch.words[word.head]
    if over.tag == "IN":
        over = sketch.words[over.head]
    return over.i != word.i and over.lemma in _WEIGHED


def _every(sketch: Sketch, word: Word) -> Word | None:
    return next((one for one in sketch.kids(word.i, "det") if one.lower in {"every", "each"}), None)


def _write_rate(sketch: Sketch, word: Word) -> None:
    """*every day*: ``rate-entity-91 :ARG3 (temporal-quantity :quant 1 :unit day)``."""
    unit = sketch.core[word.i]
    every = _every(sketch, word)
    kind = sketch.draft.concept("temporal-quantity", word.i, "rate")
    sketch.link(kind, "unit", unit, "rate")
    sketch.mark(kind, "quant", "1", every.i if every is not None else None, "rate")
    node = sketch.draft.concept("rate-entity-91", word.i, "rate")
    sketch.link(node, "ARG3", kind, "rate")
    if every is not None and every.i in sketch.core:
        sketch.draft.drop(sketch.core.pop(every.i))
        sketch.outer.pop(every.i)
    sketch.core[word.i] = sketch.outer[word.i] = node
    sketch.forms[word.i] = "rate"


def _write_kin(sketch: Sketch, word: Word) -> None:
    """*my friend*: ``person :ARG0-of (have-rel-role-91 :ARG1 i :ARG2 friend)``."""
    person = sketch.core[word.i]
    role = next((arc.head for arc in sketch.draft.arcs if arc.dep == person and arc.role == "ARG0"), None)
    if role is None or sketch.draft.nodes[role].concept != "have-rel-role-91":
        return
    owner = sketch.kid(word.i, "poss")
    if owner is None:
        of = next((one for one in sketch.kids(word.i, "prep") if one.lower == "of"), None)
        owner = sketch.kid(of.i, "pobj") if of is not None else None
    if owner is not None and sketch.speaker(owner.i) in sketch.outer:
        sketch.link(role, "ARG1", sketch.outer[sketch.speaker(owner.i)], "relation")
        sketch.placed.add(sketch.speaker(owner.i))
