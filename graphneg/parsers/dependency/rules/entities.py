"""Rules for names, dates, amounts, multiword expressions, quantities, kinship and degrees.

`write_entities` and `write_multiwords` run before all other rules that add concepts, since they turn several
words into one node:

- *Little Prince* becomes ``(p / person :name (n / name :op1 "Little" :op2 "Prince"))``. Dates, times, sums of
  money, numbers and addresses are written as entities or constants in a similar way.
- *of course* becomes ``of-course``, as listed in ``expressions.tsv``.
- *a lot of money* becomes ``(m / money :quant (l / lot))``.

`write_nominals` and `write_degrees` run when the words already have their concepts:

- *five years* becomes ``(t / temporal-quantity :unit (y / year) :quant 5)``.
- *my friend* becomes ``(p / person :ARG0-of (h / have-rel-role-91 :ARG1 (i / i) :ARG2 (f / friend)))``.
- *He is taller than Tom* becomes ``have-degree-91`` with *he* as ``ARG1``, ``tall`` as ``ARG2``, ``more`` as
  ``ARG3`` and *Tom* as ``ARG4``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphneg.english import gazetteer as known
from graphneg.english.numbers import number_value, ordinal_value
from graphneg.parsers.dependency.draft import quoted
from graphneg.parsers.dependency.lexicon import DELETED, expressions, word_class, word_map
from graphneg.parsers.dependency.rules.state import RuleState, head_of
from graphneg.parsers.dependency.text import Word

_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+\.\w+")
_ORDINAL_DAY = re.compile(r"(?:[12]?\d|3[01])(?:st|nd|rd|th)")
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_CLOCK = re.compile(r"\d{1,2}[:.]\d{2}(?:[ap]\.?m\.?)?|\d{1,2}[ap]\.?m\.?", re.IGNORECASE)
_PROPER = frozenset({"NNP", "NNPS"})
_NOMINAL = frozenset({"JJ", "NNP", "NNPS", "NNS", "NN"})
_NO_NAMES = word_class("no-name")
"""Function words that taggers mistake for names at the start of a sentence."""
_OFFICES = word_class("office")
"""Nouns of office, such as *doctor*. At the start of a sentence, they are not part of a name: the name in
*Doctor Lee came* is *Lee*.
"""
_KINDS_OF_NAMES = (
    ("city", known.CITIES), ("state", known.STATES), ("continent", known.CONTINENTS),
    ("festival", known.FESTIVALS), ("language", known.LANGUAGES),
)  # fmt: skip
"""Pairs of an entity concept and the names of entities with this concept."""
_KNOWN_NAMES = word_map("known-name")
_LAST_NAMES = word_map("last-name")
_PERIODS = word_map("day-period")
_AFTER_HOURS = frozenset({".", ",", "IN", "CC", "RB", "''"})
"""Tags of words that may follow an hour. Before a noun, the number would count something: *at six places*."""


def write_entities(state: RuleState) -> None:
    """Add the entities that can be recognised by their words alone, such as dates, amounts and URLs.

    Later rules skip the words of these entities.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
    """
    i = 0
    while i < len(state.words):
        i += _write_entity(state, state.words[i]) or 1


def _write_entity(state: RuleState, word: Word) -> int:
    """Add the entity that starts at a word. Return how many words it has; 0 if no entity starts there."""
    if word.tag in {"CD", "$"} or word.text in known.MONEY:
        taken = _write_amount(state, word)
        if taken:
            return taken
    # "may" and "march" are months only if they are tagged as proper nouns.
    if word.lower in known.WEEKDAYS or (word.lower in known.MONTHS and word.tag in _PROPER):
        return _write_date(state, word)
    if _ADDRESS.fullmatch(word.text):
        kind = "email-address-entity" if "@" in word.text else "url-entity"
        return _write_value(state, word, kind, "value", quoted(word.text), "address")
    # "on the 21st" names a day of the month, but "21st" in "a 21st birthday" does not.
    if _ORDINAL_DAY.fullmatch(word.lower) and word.tag in {"NN", "NNP"} and word.dep != "compound":
        return _write_value(state, word, "date-entity", "day", ordinal_value(word.lower) or "1", "date")
    # From U+2600 on, most characters are pictographic symbols or letters, for example Chinese characters. The
    # test with isalnum() excludes the letters.
    symbol = len(word.text) <= 2 and ord(word.text[0]) >= 0x2600 and not word.text.isalnum()
    if word.text in known.EMOTICONS or symbol:
        return _write_value(state, word, "emoticon", "value", quoted(word.text), "emoticon")
    nation = known.NATIONALITIES.get(word.lower) if word.tag in _NOMINAL and word.text[:1].isupper() else None
    # In "She speaks French", "French" is a language. In "He is French", AMR writes the country (France)
    # instead.
    spoken = word.lower in known.LANGUAGES and word.dep in {"dobj", "pobj", "nsubj"}
    if nation is not None and not spoken:
        return _write_name(state, "country", [(word, nation)])
    return _write_proper(state, word) if word.tag in _PROPER and _is_name(state, word) else 0


def _write_value(state: RuleState, word: Word, kind: str, role: str, value: str, rule: str) -> int:
    """Add an entity with a value for a word such as an e-mail address. Return the number of words, 1."""
    state.add_constant(state.add(kind, word.i, rule), role, value, word.i, rule)
    state.done.add(word.i)
    return 1


def _write_run(state: RuleState, run: Sequence[Word], concept: str, rule: str) -> int:
    """Add one concept for several words, and return the index of its node."""
    node = state.draft.concept(concept, run[0].i, rule, last=run[-1].i)
    state.draft.nodes[node].token = state.merge_words(run, node).i
    return node


def _is_name(state: RuleState, word: Word) -> bool:
    """Return whether a word is a name. At the start of a sentence, listed common words are not names."""
    if not word.text[:1].isupper() or word.lower in _NO_NAMES:
        return False
    before = word.previous
    # The first word of a sentence or quotation is always capitalised. There, a capital letter does not make a
    # common word a name.
    first = before is None or before.sentence != word.sentence or before.tag == "``"
    lexicon = state.lexicon
    common = (word.lemma, "n") in lexicon.concepts or (word.lower, "uh") in lexicon.concepts
    common = common or any((pos, word.lower) in lexicon.aliases for pos in "vnj") or word.lower in _OFFICES
    # Written in capitals, "NATO" is a name, but "STOP" and "RUNNING" are only emphasised.
    if word.text.isupper() and len(word.text) > 1:
        return not common and not word.lower.endswith("ing")
    return not (first and common)


def _write_proper(state: RuleState, word: Word) -> int:
    """Add the person, place or other entity whose name starts at a word. Return the length of the name."""
    run = [word]
    for after in word.tree[word.i + 1 :]:
        named = after.tag in _PROPER and after.text[:1].isupper() and after.lower not in _NO_NAMES
        # Include a number that depends on the name, as in "Apollo 11".
        numbered = after.tag == "CD" and after.head in {part.i for part in run} and len(run) < 4
        # Add words to the name up to the end of the sentence, or up to the first word that cannot be part of
        # a name, such as "is" in "Anna Lee is here".
        if not (named and after.sentence == word.sentence) and not numbered:
            break
        run.append(after)
    kind, before = _kind_of_name(run), word.previous
    # In "the planet Mars", the noun before the name gives the type of the entity.
    if before is not None and before.tag == "NN" and run[0].i <= before.head <= run[-1].i:
        kind = before.lemma
        state.done.add(before.i)
        state.representatives[before.i] = head_of(run).i
    return _write_name(state, kind, [(part, part.text) for part in run])


def _kind_of_name(run: list[Word]) -> str:
    """Return the concept of a named entity, such as ``city`` or ``person``, judging by its name."""
    whole, last = " ".join(part.lower for part in run), run[-1].lower
    if whole in known.COUNTRIES or _LAST_NAMES.get(last) == "country":
        return "country"
    if whole.replace(" ", "_") in _KNOWN_NAMES:
        return _KNOWN_NAMES[whole.replace(" ", "_")]
    for kind, names in _KINDS_OF_NAMES:
        if whole in names or (kind == "festival" and (last in names or _LAST_NAMES.get(last) == kind)):
            return kind
    # The last word of "Hudson River" or "Oxford Street" tells the kind of place.
    if last in known.PLACE_KINDS and len(run) > 1:
        return last
    head = head_of(run)
    # "in Umeå" names a city and "at Siemens" an organization. After a title, as in "in Mr. Smith", the name
    # is that of a person. If nothing shows the type of a name, it counts as a person's name.
    if head.dep == "pobj" and run[0].lower not in known.TITLES:
        return {"in": "city", "at": "organization"}.get(head.parent.lower, "person")
    return "person"


def _write_name(state: RuleState, kind: str, parts: list[tuple[Word, str]]) -> int:
    """Add an entity with its name, and return the number of words of the name."""
    entity = _write_run(state, [word for word, _ in parts], kind, "name")
    name = state.draft.concept("name", parts[0][0].i, "name", last=parts[-1][0].i)
    state.draft.link(entity, "name", name, "name")
    for n, (word, text) in enumerate(parts, 1):
        state.add_constant(name, f"op{n}", quoted(text), word.i, "name")
    return len(parts)


def _write_date(state: RuleState, word: Word) -> int:
    """Add a date such as *Monday*, *June 12* or *June 12, 1990*; return the number of its words."""
    state.done.add(word.i)
    if word.lower in known.WEEKDAYS:
        state.add("date-entity", word.i, "date", weekday=word.lower)
        return 1
    node = state.add("date-entity", word.i, "date")
    state.add_constant(node, "month", str(known.MONTHS[word.lower]), word.i, "date")
    taken = 1
    for after in state.words[word.i + 1 : word.i + 4]:
        number = after.lower if after.lower.isdigit() else ordinal_value(after.lower)
        # A comma is only allowed between the day and the year.
        if after.tag != "," or taken != 2:
            if number is None or after.sentence != word.sentence:
                break
            state.add_constant(node, "year" if _YEAR.fullmatch(number) else "day", number, after.i, "date")
            state.share_node([after], word)
        taken += 1
    return taken


def _write_amount(state: RuleState, word: Word) -> int:
    """Add the number, time or sum of money that starts at a word; return the number of its words, or 0."""
    after = word.following
    if word.text in known.MONEY and word.tag != "CD":
        return 0 if after is None or after.tag != "CD" else _write_money(state, word, _number_run(after))
    if _CLOCK.fullmatch(word.text) or (after is not None and after.lower in {"o'clock", *_PERIODS}):
        return _write_clock(state, word, after)
    last = after is None or after.tag in _AFTER_HOURS or after.lower in {"tonight", "tomorrow"}
    if _hour(word) is not None and last and word.dep == "pobj" and word.tree[word.i - 1].lower == "at":
        return _write_clock(state, word, None)  # "at 6" and "at seven" name hours.
    if _opens_hours(word):
        return _write_hours(state, word)
    # "in 1990" names a year, but in "in 1990 cases" the number counts cases.
    alone = after is None or after.tag[:2] != "NN"
    if _YEAR.fullmatch(word.text) and word.dep in {"pobj", "npadvmod"} and alone:
        return _write_value(state, word, "date-entity", "year", word.text, "date")
    # Numbers that are written in several words, such as "two hundred", become one node here. Single words are
    # added later, with the other concepts.
    run = _number_run(word)
    if len(run) > 1:
        value = number_value(" ".join(part.lower for part in run))
        state.merge_words(run, state.draft.constant(value or "1", run[0].i, "number", last=run[-1].i))
        return run[-1].i - word.i + 1
    return 0


def _opens_hours(word: Word) -> bool:
    """Return whether a phrase such as *nine to five* starts at a word and names hours."""
    around = word.tree[max(word.i - 1, 0) : word.i + 4]
    if len(around) < 4 or word.i == 0:
        return False
    before, _, between, last, *after = around
    alone = not after or after[0].tag in _AFTER_HOURS or after[0].sentence != word.sentence
    framed = before.lower == "from" and between.lower in {"to", "till", "until"}
    # "from two to three" is not an interval of time in "Prices rose from two to three": the verb shows that
    # the numbers are amounts and not hours.
    hours = word.tag == last.tag == "CD" and _hour(word) is not None and _hour(last) is not None
    return framed and alone and hours and before.parent.lemma not in word_class("counting")


def _hour(word: Word) -> str | None:
    """Return the hour from 1 to 12 that a word names, or ``None``."""
    value = number_value(word.lower)
    return value if value is not None and value.isdigit() and 1 <= int(value) <= 12 else None


def _write_hours(state: RuleState, word: Word) -> int:
    """Add *nine to five* as an interval of time, and return the number of its words."""
    run = state.words[word.i : word.i + 3]
    interval = _write_run(state, run, "date-interval", "time")
    for n, part in enumerate((run[0], run[-1]), 1):
        hour = state.draft.concept("date-entity", part.i, "time")
        state.add_constant(hour, "time", quoted(f"{_hour(part)}:00"), part.i, "time")
        state.draft.link(interval, f"op{n}", hour, "time")
    return len(run)


def _number_run(word: Word) -> list[Word]:
    """Return the longest sequence of numerals that starts at a word and can be read as one number."""
    run = [word]
    for after in word.tree[word.i + 1 : word.i + 8]:
        behind = after.following
        if after.text == "-" and behind is not None and behind.tag == "CD":
            continue
        joined = " ".join(part.lower for part in (*run, after))
        if after.tag != "CD" or number_value(joined) is None or after.text[0].isdigit():
            break
        run.append(after)
    return run


def _write_money(state: RuleState, sign: Word, run: list[Word]) -> int:
    """Add a sum of money with a currency sign, such as *$ 5*; return the number of its words."""
    value = number_value(" ".join(part.lower for part in run)) or run[0].lower
    node = state.draft.concept("monetary-quantity", sign.i, "quantity", last=run[-1].i)
    state.add_constant(node, "quant", value, run[0].i, "quantity")
    unit = state.draft.concept(known.MONEY[sign.text], sign.i, "quantity")
    state.draft.link(node, "unit", unit, "quantity")
    state.merge_words([sign, *run], node)
    return 1 + len(run)


def _write_clock(state: RuleState, word: Word, after: Word | None) -> int:
    """Add a time such as *6:30 pm*, *six o'clock* or *at 6*; return the number of its words."""
    match = re.match(r"(\d{1,2})[:.]?(\d{2})?", word.lower)
    hour = f"{match[1]}:{match[2] or '00'}" if match else f"{number_value(word.lower) or word.lower}:00"
    node = state.add("date-entity", word.i, "time")
    state.add_constant(node, "time", quoted(hour), word.i, "time")
    state.done.add(word.i)
    run = [word]
    period = next((name for suffix, name in _PERIODS.items() if word.lower.endswith(suffix)), None)
    if after is not None and after.lower in {"o'clock", *_PERIODS}:
        period = _PERIODS.get(after.lower, period)
        run.append(after)
        head = after if after.head != word.i else word
        del state.head_nodes[word.i], state.top_nodes[word.i]
        state.set_node(head.i, node)
        state.share_node(run, head)
    if period is not None:
        state.draft.link(node, "dayperiod", state.draft.concept(period, word.i, "time"), "time")
    return len(run)


def write_multiwords(state: RuleState) -> None:
    """Add one node for each multiword expression, and make it the node of the expression's head word.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
    """
    i = 0
    while i < len(state.words):
        i += (
            _write_phrase(state, i)
            or _defer_none(state, i)
            or _write_expression(state, i)
            or _write_hyphenated(state, i)
            or 1
        )


def _expressions_at(state: RuleState, i: int, kind: str = "") -> list[tuple[Sequence[Word], str]]:
    """Return the words and concepts of all expressions in ``expressions.tsv`` that start at a word."""
    return [
        (state.words[i : i + len(forms)], concept)
        for forms, concept in expressions(kind).get(state.words[i].lower, ())
        if tuple(word.lower for word in state.words[i : i + len(forms)]) == forms
    ]


def _write_phrase(state: RuleState, i: int) -> int:
    """Add a complex preposition as a concept: *in front of the house* is ``(in-front-of :op1 house)``."""
    for run, concept in _expressions_at(state, i, "preposition"):
        inner = run[-1].child("pobj", "pcomp")
        if inner is not None:
            _write_run(state, run, concept, "multiword")
            state.relations[inner.i] = "pobj"
            return len(run)
    return 0


def _defer_none(state: RuleState, i: int) -> int:
    """Use the node of *kids* for the whole phrase *none of the kids*. A later rule negates the verb."""
    run = state.words[i : i + 2]
    whole = run[-1].child("pobj")
    # The phrase starts with "none of" or "neither of", as in "none of the kids" and "neither of them".
    if run[0].lower in {"none", "neither"} and run[-1].lower == "of" and whole is not None:
        state.share_node(run, whole)
        return 2
    return 0


def _write_expression(state: RuleState, i: int) -> int:
    """Add an expression of ``expressions.tsv`` that starts at a word; return the number of its words."""
    for run, concept in _expressions_at(state, i) if i not in state.done else ():
        before = state.words[i - 1].tag if i else ""
        noun = run[-1].child("pobj") if run[-1].lower == "of" else None
        measures = concept in {"lot", "plenty"} and run[-1].lower == "of"
        # In "I kind of like it", "kind of" is an adverb. In "this kind of music", "kind" is a noun.
        kind = concept in {"kind-of", "sort-of"} and before in {"DT", "JJ", "WDT", "WP", "PRP$", "CD"}
        if run[-1].sentence != run[0].sentence or kind or (measures and noun is None):
            continue
        # "such as" and "in order to" are listed without a concept, so their words get no node.
        if concept == DELETED:
            state.done.update(word.i for word in run)
            # In "animals such as dogs", "dogs" is an example of "animals".
            inner = run[-1].child("pobj")
            if inner is not None:
                state.relations[inner.i] = "example"
            return len(run)
        # In "a lot of money", "a lot of" shares the node of "money". `write_nominals` later makes "a lot" the
        # :quant of this node.
        if measures and noun is not None:
            state.amounts[noun.i] = state.draft.concept(concept, i, "multiword", last=run[-1].i)
            state.share_node(run, noun)
        else:
            _write_run(state, run, concept, "multiword")
        return len(run)
    return 0


def _write_hyphenated(state: RuleState, i: int) -> int:
    """Add a hyphenated compound such as *grown-up* as one concept, if the tables contain the compound."""
    run = state.words[i : i + 3]
    if len(run) < 3 or run[1].text != "-" or i in state.done:
        return 0
    joined = f"{run[0].lower}-{run[2].lemma}"
    frames = [frame for pos in "nj" for frame in state.lexicon.aliases.get((pos, joined), ())[:1]]
    # Use the joined words as the concept if they are a concept in annotated graphs. Otherwise, use a PropBank
    # frame.
    concept = joined if joined in state.lexicon.totals else next(iter(frames), None)
    if concept is None:
        return 0
    _write_run(state, run, concept, "hyphen")
    return 3


_SINGLE_UNITS = frozenset({"minute", "hour", "week", "month", "year", "decade", "century"})
"""Units that *a* or *an* can count, as in *for an hour*."""
_MARKERS = word_map("degree-marker")


def write_nominals(state: RuleState) -> None:
    """Add quantities with units, rates, and relations of kinship.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
    """
    for noun, amount in state.amounts.items():
        if noun in state.head_nodes:
            state.draft.link(state.head_nodes[noun], "quant", amount, "amount")
    for word in state.words:
        if word.tag in {"NN", "NNS"} and word.i in state.head_nodes and word.i not in state.done:
            every = word.child_word("det", "every", "each")
            if word.lemma in known.QUANTITY_KINDS and _is_amount(state, word):
                _write_quantity(state, word)
            elif word.lemma in known.TEMPORAL_UNITS and word.dep == "npadvmod" and every is not None:
                _write_rate(state, word, every)
            elif state.concept_of(word.i) == "person":
                _write_kin(state, word)


def _object_of(word: Word, preposition: str) -> Word | None:
    """Return the object of a preposition below a word, such as *Tom* in *a friend of Tom*; else ``None``."""
    phrase = word.child_word("prep", preposition)
    return phrase.child("pobj") if phrase is not None else None


def _is_amount(state: RuleState, word: Word) -> bool:
    """Return whether a noun is a unit with a number or article, as in *five years* or *for an hour*."""
    # In "He slept for an hour", "an" counts one hour. In "It was an hour of joy", it does not count.
    if word.lemma in _SINGLE_UNITS and word.child_word("det", "a", "an") is not None:
        over = word.parent.lower if word.dep == "pobj" else ""
        return word.dep in {"npadvmod", "ROOT"} or over in {"for", "in", "within"}
    # "One day he left" means "some day", so "one" does not count days here.
    if word.dep == "npadvmod" and word.child_word("nummod", "one") is not None:
        return False
    return any(number.tag == "CD" and number.i in state.head_nodes for number in word.children("nummod"))


def _write_quantity(state: RuleState, word: Word) -> None:
    """Add the node of a quantity: *five years* is ``(temporal-quantity :quant 5 :unit year)``."""
    draft, unit = state.draft, state.head_nodes[word.i]
    draft.nodes[unit].concept = word.lemma
    measured, over = _object_of(word, "of"), word.parent
    if measured is not None and measured.i not in state.head_nodes:
        measured = None
    if over.tag == "IN":
        over = over.parent
    # A pound is a mass (mass-quantity) in "three pounds of rice" and "I gained five pounds", but money
    # (monetary-quantity) in "It costs five pounds".
    weighed = over.i != word.i and over.lemma in word_class("weighed")
    weighs = word.lemma in {"pound", "ounce"} and (measured is not None or weighed)
    concept = "mass-quantity" if weighs else known.QUANTITY_KINDS[word.lemma]
    quantity = draft.concept(concept, word.i, "quantity", unit=unit)
    state.set_node(word.i, quantity)
    # In "We ate three pounds of rice", it is the rice that is eaten. Make "three pounds" the quantity
    # (``:quant``) of the rice.
    if concept in {"mass-quantity", "volume-quantity"} and measured is not None:
        draft.link(state.head_nodes[measured.i], "quant", quantity, "amount")
        state.top_nodes[word.i] = state.top_nodes[measured.i]
        state.linked.add(measured.i)
    # In "for an hour", the article counts one hour, so the quantity is 1.
    article = word.child_word("det", "a", "an")
    if article is not None:
        state.add_constant(quantity, "quant", "1", article.i, "quantity")


def _write_rate(state: RuleState, word: Word, every: Word) -> None:
    """Add a rate: *every day* is ``(rate-entity-91 :ARG3 (temporal-quantity :quant 1 :unit day))``."""
    quantity = state.draft.concept("temporal-quantity", word.i, "rate", unit=state.head_nodes[word.i])
    state.add_constant(quantity, "quant", "1", every.i, "rate")
    if every.i in state.head_nodes:
        state.erase(every.i)
    state.add("rate-entity-91", word.i, "rate", ARG3=quantity)
    state.relations[word.i] = "rate"


def _write_kin(state: RuleState, word: Word) -> None:
    """Add the person whose relative or friend somebody is: *I* (``ARG1``) for *my friend*."""
    draft, person = state.draft, state.head_nodes[word.i]
    role = next((arc.head for arc in draft.arcs if arc.dep == person and arc.role == "ARG0"), None)
    # In "my friend" and "a friend of Tom", the friend is related to the person that "my" or "Tom" refers to.
    owner = word.child("poss") or _object_of(word, "of")
    node = state.outer_of(owner) if owner is not None else None
    related = role is not None and draft.nodes[role].concept == "have-rel-role-91"
    if role is not None and related and owner is not None and node is not None:
        draft.link(role, "ARG1", node, "relation")
        state.linked.add(state.node_owner(owner.i))


def write_degrees(state: RuleState) -> None:
    """Put ``have-degree-91`` above each adjective that is compared or has a degree word.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
    """
    for word in state.words:
        # Words such as "more", "most" and "last" themselves express degrees or amounts, so they do not get
        # have-degree-91.
        bare = word.lower in word_class("bare-degree")
        degree = _degree(word) if word.tag[:2] == "JJ" and word.i in state.head_nodes and not bare else None
        if degree is not None:
            _write_degree(state, word, *degree)


def _degree(word: Word) -> tuple[str, Word] | None:
    """Return the degree of an adjective and the word that expresses it, or ``None`` if it has no degree."""
    if word.tag in {"JJR", "JJS"}:
        return ("more" if word.tag == "JJR" else "most"), word
    # "as tall as Tom" is a comparison, but "as usual" is not, since no second "as" follows.
    again = any(kid.lower == "as" and kid.i > word.i for kid in word.children("prep", "advcl"))
    for marker in word.children("advmod"):
        if marker.lower in _MARKERS and marker.i < word.i and (marker.lower != "as" or again):
            return _MARKERS[marker.lower], marker
        if marker.lower == "so":
            # "so tired that he sleeps" has the degree "so", because a result follows.
            if any(clause.child_word("mark", "that") for clause in word.children("ccomp", "advcl")):
                return "so", marker
            # "not so tall as Tom" has the same meaning as "not as tall as Tom".
            denials = [kid for above in (word, word.parent) for kid in above.children("neg")]
            if marker.i < word.i and again and any(kid.lemma in {"not", "n't"} for kid in denials):
                return "equal", marker
    return None


def _write_degree(state: RuleState, word: Word, kind: str, marker: Word) -> None:
    """Put ``have-degree-91`` above an adjective, with its degree and what it is compared with."""
    draft = state.draft
    degree = draft.concept("have-degree-91", marker.i, "degree", ARG2=state.head_nodes[word.i])
    # In "more beautiful", the node of "more" expresses the degree. In "taller", there is no separate word for
    # the degree, so add a node.
    if marker.i in state.head_nodes and marker.i != word.i:
        node = state.head_nodes[marker.i]
        draft.nodes[node].concept = kind
    else:
        node = draft.concept(kind, marker.i, "degree")
    draft.link(degree, "ARG3", node, "degree")
    if marker.i != word.i:
        state.linked.add(marker.i)
    state.set_node(word.i, degree)
    for kid in word.children("prep", "advcl", "ccomp", "xcomp"):
        _write_standard(state, kid, degree, kind)


def _write_standard(state: RuleState, kid: Word, degree: int, kind: str) -> None:
    """Link an argument of ``have-degree-91``: "taller (than Tom)", "tallest (of all)", "too big (to go)"."""
    target: Word | None = kid
    if kid.dep == "prep":
        target = kid.child("pobj", "pcomp")
        # In "taller than Tom", Tom is ARG4. In "the tallest of the boys", the boys are ARG5 (the superset).
        role = {"than": "ARG4", "as": "ARG4"}.get(kid.lower, "ARG5")
        if kid.lower not in {"than", "as", "of", "in"} or (role == "ARG5" and kind != "most"):
            return
    elif kid.child_word("mark", "than", "as") is not None:
        role = "ARG4"
    # In "too tired to walk" and "so tired that he sleeps", the clause is the consequence (ARG6).
    elif kind in {"too", "so"}:
        role = "ARG6"
    else:
        return
    node = state.outer_of(target) if target is not None else None
    if target is not None and node is not None:
        state.draft.link(degree, role, node, "degree")
        state.linked.add(state.node_owner(target.i))


def link_measured_subject(state: RuleState) -> None:
    """Link the subject of ``have-degree-91`` also to the frame of the adjective.

    In *He is too tired*, *he* is ``ARG1`` both of ``have-degree-91`` and of ``tire-01``.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
    """
    arcs = state.draft.arcs
    for degree in [arc for arc in arcs if arc.role == "ARG2" and arc.rule == "degree"]:
        entry = state.lexicon.frames.get(state.draft.nodes[degree.dep].concept or "")
        whole = next((arc.dep for arc in arcs if arc.head == degree.head and arc.role == "ARG1"), None)
        free = "ARG1" not in state.draft.roles(degree.dep)
        if free and whole is not None and entry is not None and "1" in entry.functions:
            state.draft.link(degree.dep, "ARG1", whole, "degree")
