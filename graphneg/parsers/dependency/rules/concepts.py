"""Rules that add the concept of each single word to the unfinished graph (draft).

Closed-class words get their concepts from lists. Open-class words get their concepts from counts in annotated
graphs and from PropBank frames. Words that earlier rules have handled (names, expressions, copulas) are
skipped. For example:

- *she* has ``she``, and *unhappy* has ``(h / happy-01 :polarity -)``.
- *decision* has ``decide-01``, since PropBank lists the noun under the frame of the verb.
- *painter* has ``(p / person :ARG0-of (p2 / paint-02))``.
- *my aunt* has ``(p / person :ARG0-of (h / have-rel-role-91 :ARG1 (i / i) :ARG2 (a / aunt)))``.

The sense of a verb depends on its arguments, on the frequency of each sense in annotated graphs, and on the
order of the senses in PropBank: *I used to run* has ``use-02``.
"""

from __future__ import annotations

from collections.abc import Callable

from graphneg.english.noun_kinds import is_frame
from graphneg.english.numbers import number_value
from graphneg.english.words import lemma_of, readings
from graphneg.parsers.dependency.lexicon import DELETED, word_class, word_map
from graphneg.parsers.dependency.rules.clauses import MODALS
from graphneg.parsers.dependency.rules.state import RuleState
from graphneg.parsers.dependency.text import Word, signature

_PRONOUNS = word_map("pronoun")
_INDEFINITE = word_map("indefinite")


_NO_ADVERBS = frozenset({"family", "early", "likely", "lonely", "daily", "friendly"})
"""Words in *-ly* that are adjectives or nouns and not regular adverbs."""
_IN_LE = frozenset({"gently", "simply", "humbly", "subtly", "idly", "nobly"})
"""Adverbs whose adjective ends in *-le*, such as *gently* from *gentle*."""
_PREFIXES = ("un", "im", "in", "ir", "il", "dis")
"""Negative prefixes of adjectives, as in *unhappy*."""
_LIGHT_VERBS = {verb: word_class(f"light-verb {verb}") for verb in ("make", "take", "give", "have", "do")}
"""Objects of each light verb that carry the meaning: *take a look* is ``look-01`` (AMR guidelines 1.2.6).
"""
_RELATIVES = word_map("relative")
_EVENT_ENDINGS = ("tion", "sion", "ment", "ance", "ence", "al", "ing", "ure")
"""Endings of nouns that may have the frame of a verb, such as *decision* and *arrival*."""


def resolve_light_verbs(state: RuleState) -> None:
    """Give a light verb and its object a single node: *take a look* is ``look-01``.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
    """
    lexicon = state.lexicon
    for word in state.words:
        nouns = _LIGHT_VERBS.get(word.lemma) if word.tag[:2] == "VB" else None
        noun = word.child("dobj") if nouns is not None else None
        if nouns is None or noun is None or noun.lemma not in nouns or noun.i in state.done:
            continue
        counts = lexicon.concepts.get((noun.lemma, "n"), {})
        # "take a look" gets the concept of its object, because "look" has the verbal frame look-01. If the
        # object has no verbal frame, the verb keeps its own concept.
        frames = _verbal_frames(state, noun.lemma, "n") or lexicon.candidates(noun.lemma, "v")
        if frames:
            state.add(max(frames, key=lambda frame: counts.get(frame, 0)), noun.i, "light-verb")
            state.representatives[word.i] = noun.i


def write_concepts(state: RuleState) -> None:
    """Add a concept for each word that has no node yet.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
    """
    for word in state.words:
        tag = word.tag
        please = word.lower == "please" and tag in {"UH", "RB", "VB"} and not word.dependents
        # "please" gets no concept here, because another rule adds ``:polite +`` to its clause. Articles and
        # punctuation marks get no concept at all.
        silent = please or tag in word_class("silent-tag") or word.lower in {"the", "a", "an"}
        if silent or word.i in state.done or word.i in state.representatives or word.i in state.head_nodes:
            continue
        if word.lower.endswith("less") and word.lower[:-4] in word_class("clothes"):
            # "a shirtless man" is a man who has no shirt, so "shirtless" gets a negated have-03.
            having = state.add("have-03", word.i, "lack", ARG1=word.lower[:-4])
            state.add_constant(having, "polarity", "-", word.i, "negative")
        elif tag in {"WP", "WP$", "WRB", "WDT", "CC"}:
            # Skip question words and conjunctions. The modules `clauses` and `linking` add their nodes.
            continue
        elif word.lower in word_class("wh-word") and tag[:2] not in {"IN", "VB", "MD", "PR"}:
            continue
        elif tag == "MD":
            # In "I can!", there is no verb, so the node of the modal is the node of the clause.
            if word.dep not in {"aux", "auxpass"}:
                state.add(MODALS[word.lemma][0] if word.lemma in MODALS else "do-02", word.i, "ellipsis")
        elif tag in {"PRP", "PRP$"}:
            if word.lower in _PRONOUNS:
                state.add(_PRONOUNS[word.lower], word.i, "pronoun")
        elif tag in _WRITERS:
            _WRITERS[tag](state, word)
        elif tag in word_class("fallback-tag") or any(character.isalnum() for character in word.text):
            state.add(word.lemma, word.i, "word")


def _write_verb(state: RuleState, word: Word) -> None:
    """Add the frame of a verb, which may include a particle: *give up* has ``give-up-07``."""
    if word.dep in {"aux", "auxpass"} or word.lemma == "be" or not any(map(str.isalpha, word.text)):
        return
    lexicon = state.lexicon
    particle = word.child("prt")
    if particle is None:
        particle = next((kid for kid in word.children("advmod", "prep") if kid.tag == "RP"), None)
    frames = lexicon.candidates(f"{word.lemma}_{particle.lower}", "v") if particle is not None else []
    if particle is not None and frames:
        state.done.add(particle.i)
        last = particle.i if particle.i == word.i + 1 else None
        state.add(_best_sense(state, word, frames), word.i, "particle", last)
        return
    # The candidates are PropBank's first twelve frames of the verb, and all concepts that annotators gave it.
    # If the verb occurs in no annotated graph, all its PropBank frames are candidates.
    frames = [frame for frame in lexicon.candidates(word.lemma, "v") if "_" not in frame]
    known = lexicon.written_concepts(word.lemma, "v")
    if known:
        frames = list(dict.fromkeys([*frames[:12], *known]))
    rule = "table" if known else "frame" if frames else "unknown"
    state.add(_best_sense(state, word, frames or [f"{word.lemma}-01"]), word.i, rule)


def _best_sense(state: RuleState, word: Word, frames: list[str]) -> str:
    """Choose a verb's sense by its arguments, its frequency in annotated graphs and its rank in PropBank."""
    if len(frames) == 1:
        return frames[0]
    # "I used to run" has use-02, but "I used a pen to write" does not.
    if word.lower == "used" and word.child("xcomp") and not word.child("dobj"):
        return "use-02"
    # "I would like some tea" expresses a wish (like-02). "I like tea" states a fact (like-01).
    if word.lemma in {"like", "love"}:
        wished = word.child_word("aux", "would", "should", "'d") is not None
        return f"{word.lemma}-02" if wished else f"{word.lemma}-01"
    # The arguments distinguish look-02 ("You look tired") from look-01 ("look at me"). They also distinguish
    # make-02 ("make him laugh") from make-01 ("make a cake").
    for lemma, deps in (("look", ("acomp", "oprd")), ("make", ("ccomp", "xcomp", "oprd"))):
        if word.lemma == lemma and f"{lemma}-02" in frames and word.child(*deps) is not None:
            return f"{lemma}-02"
    counts, forms = state.lexicon.concepts.get((word.lemma, "v"), {}), _forms(word)
    total = sum(counts.values())
    best, best_score = frames[0], -1.0
    for rank, frame in enumerate(frames):
        entry = state.lexicon.frames.get(frame)
        # Prefer frequent senses: PropBank lists them first and has more examples for them.
        prior = 0.5 / (1 + rank) + 0.02 * min(0 if entry is None else entry.examples, 10)
        score = (counts.get(frame, 0) + 2 * prior) / (total + 2)
        if entry is not None and {"dobj", "nsubj"} <= set(forms):
            # A verb with a subject and an object needs a frame with an agent and at least one more role.
            score *= 0.3 if len(entry.functions) < 2 or "0" not in entry.functions else 1.0
        for form in forms:
            score *= _fit(state, frame, form)
        if score > best_score:
            best, best_score = frame, score
    return best


def _forms(word: Word) -> list[str]:
    """Return the syntactic function of each argument of a verb, such as ``dobj`` or ``prep_to``."""
    forms: list[str] = []
    for kid in word.children():
        target: Word | None = None
        if kid.dep in {"prep", "dative"} and kid.tag in {"IN", "TO"}:
            target = kid.child("pobj", "pcomp")
        form = signature(word, target or kid)
        if form is not None and kid.dep not in {"punct", "aux", "cc", "conj", "neg", "mark", "auxpass"}:
            forms.append(form)
    return forms


def _fit(state: RuleState, frame: str, form: str) -> float:
    """Return how often a frame has an argument with a given relation, as a score from 0.3 to 1.3.

    Args:
        state: The words of the text, and the graph under construction.
        frame: The frame, such as ``look-01``.
        form: Name of the relation, such as ``prep_at``.
    """
    entry = state.lexicon.frames.get(frame)
    graphs = state.lexicon.roles.get(("F", frame, form), {})
    seen = sum(count for role, count in (entry.seen.get(form, {}) if entry else {}).items() if role != "M")
    examples = entry.examples if entry else 0
    # A count from annotated graphs weighs half as much as a count from PropBank's examples.
    trained = state.lexicon.totals.get(frame, 0)
    return 0.3 + min((seen + 0.5 * sum(graphs.values()) + 0.15) / (examples + 0.5 * trained + 1.0), 1.0)


def _write_noun(state: RuleState, word: Word) -> None:
    """Add the concept of a noun. Nouns such as *aunt* and *teacher* get several nodes."""
    lemma = word.lemma
    owned = word.child("poss") is not None or word.child_word("prep", "of") is not None
    if word.lower in _INDEFINITE:
        state.add(_INDEFINITE[word.lower], word.i, "indefinite")
    # "my aunt" and "the aunt of Tom" express a relation, but "an aunt" alone is a plain noun. "friend" always
    # expresses a relation.
    elif lemma in _RELATIVES and (lemma == "friend" or owned):
        person = state.add("person", word.i, "relation")
        state.draft.concept("have-rel-role-91", word.i, "relation", ARG0=person, ARG2=_RELATIVES[lemma])
    elif known := state.lexicon.written_concepts(lemma, "n"):
        _write_known(state, word, known[0])
    elif lemma in word_class("agent-noun"):
        _write_agent(state, word, "person")
    else:
        frames = _verbal_frames(state, lemma, "n") if lemma.endswith(_EVENT_ENDINGS) else []
        state.add(frames[0] if frames else lemma, word.i, "nominal" if frames else "word")


def _write_known(state: RuleState, word: Word, concept: str) -> None:
    """Add the concept that a noun most often had in annotated graphs."""
    lemma = word.lemma
    # "player" becomes (person :ARG0-of play-01). For "bookseller", ``concepts.tsv`` has only sell-01, so the
    # first part of the word is added as the object: (person :ARG0-of (sell-01 :ARG1 book)).
    tail = next((lemma[k:] for k in range(len(lemma)) if _is_agent(lemma[k:], concept)), None)
    first = "" if tail is None else lemma.removesuffix(tail)
    if tail is not None and (tail == lemma or "NOUN" in readings(first)):
        person = state.persons[word.i] = state.add("person", word.i, "agent")
        state.head_nodes[word.i] = state.draft.concept(concept, word.i, "agent", ARG0=person)
        if tail != lemma:
            thing = state.draft.concept(first, word.i, "agent")
            state.draft.link(state.head_nodes[word.i], "ARG1", thing, "agent")
    elif concept in {"person", "thing"} and lemma != concept:
        _write_agent(state, word, concept)
    else:
        state.add(concept, word.i, "table")


def _is_agent(noun: str, concept: str) -> bool:
    """Return whether a noun in *-er* or *-or* names the agent of a frame.

    >>> _is_agent("player", "play-01"), _is_agent("order", "order-01"), _is_agent("swimmer", "swim-01")
    (True, False, True)

    Returns:
        True if the noun consists of the frame's verb and one of these endings.
    """
    verb = concept.rpartition("-")[0]
    return noun.endswith(("er", "or")) and is_frame(concept) and verb != noun and noun.startswith(verb[:-1])


def _write_agent(state: RuleState, word: Word, concept: str) -> None:
    """Add the nodes of an agent noun such as *painter*: ``(person :ARG0-of paint-02)``, if possible."""
    node = state.add(concept, word.i, "agent")
    if word.lemma.endswith(("er", "or", "ist")) and concept == "person":
        # The verb may be the noun without its last two, one or three letters: "paint-er", "ride-r",
        # "tour-ist".
        for stem in (word.lemma[:-2], word.lemma[:-1], word.lemma[:-3]):
            frames = state.lexicon.candidates(stem, "v")
            if frames:
                state.head_nodes[word.i] = state.draft.concept(frames[0], word.i, "agent", ARG0=node)
                state.persons[word.i] = node
                return


def _verbal_frames(state: RuleState, lemma: str, kind: str) -> list[str]:
    """Return the frames of a noun or an adjective that are also frames of a verb in PropBank."""
    return [frame for frame in state.lexicon.candidates(lemma, kind) if state.lexicon.frames[frame].verbal]


def _write_adjective(state: RuleState, word: Word) -> None:
    """Add the concept of an adjective. If it has a negative prefix or suffix, also add its negation."""
    # In "six years old" and "How old are you?", "six years" and "how" become the ARG2 of age-01.
    for kid in word.children("npadvmod", "advmod") if word.lower == "old" else ():
        if kid.lemma in {"year", "month", "week", "day"} or (
            kid.lower == "how" and kid.i in state.head_nodes
        ):
            state.relations[kid.i] = "age"
            state.add("age-01", word.i, "age")
            return
    concept, rule = _adjective_concept(state, word)
    node = state.add(concept, word.i, rule)
    if rule == "negative":
        state.add_constant(node, "polarity", "-", word.i, rule)


def _adjective_concept(state: RuleState, word: Word) -> tuple[str, str]:
    """Return the concept of an adjective and the name of the rule that chose it."""
    lexicon, lemma = state.lexicon, word.lemma
    if word.lower in {"much", "many", "little", "few"}:
        return word.lower, "table"
    known = lexicon.written_concepts(lemma, "j")
    if known:
        return known[0], "negative" if _is_negation_of(lemma, known[0]) else "table"
    # "unhappy" gets happy-01 with :polarity -.
    base = _negated_concept(state, lemma)
    if base is not None:
        return base, "negative"
    frames = _verbal_frames(state, lemma, "j") or lexicon.candidates(lemma, "j")
    if frames:
        return frames[0], "frame"
    # For a participle such as "tired" or "amusing", use the frame of its verb, such as amuse-01.
    if lemma.endswith(("ed", "ing")):
        verb = lemma_of(word.lower, "VBN" if lemma.endswith("ed") else "VBG")
        frames = lexicon.candidates(verb, "v")
        if frames and verb != word.lower:
            return frames[0], "participle"
    return lemma, "word"


def _is_negation_of(word: str, concept: str) -> bool:
    """Return whether a word is formed from a concept's word with a negative prefix or *-less*.

    >>> _is_negation_of("unhappy", "happy-01"), _is_negation_of("untie", "untie-01")
    (True, False)

    Returns:
        True if the concept needs a ``:polarity -`` to have the word's meaning.
    """
    stem = concept.rpartition("-")[0] if concept[-1].isdigit() else concept
    # "Careless" is written as care-01 with a negation, but "homeless" keeps a concept with *-less*.
    lacks = word.endswith("less") and not stem.endswith("less") and word[:4] == stem[:4]
    return lacks or any(word == f"{prefix}{stem}" for prefix in _PREFIXES)


def _negated_concept(state: RuleState, lemma: str) -> str | None:
    """Return the concept that an adjective such as *unhappy* or *careless* negates, or ``None``."""
    lexicon = state.lexicon
    for prefix in _PREFIXES:
        stem = lemma[len(prefix) :]
        # "important" has a frame, so it is not a negation of "portant". An adjective in "un-" is a negation,
        # even if it has a frame.
        own = prefix != "un" and ("j", lemma) in lexicon.aliases
        if lemma.startswith(prefix) and len(stem) > 3 and not own:
            known, frames = lexicon.best_concept(stem, "j"), lexicon.candidates(stem, "j")
            if known not in {None, DELETED}:
                return known
            if frames:
                return frames[0]
    # "fearless" means without fear, so it gets fear-01 with :polarity -.
    verbs = lexicon.candidates(lemma[:-4], "v") if lemma.endswith("less") and len(lemma) > 6 else []
    return (lexicon.best_concept(lemma[:-4], "v") or verbs[0]) if verbs else None


def _write_adverb(state: RuleState, word: Word) -> None:
    """Add the concept of an adverb. If it has a negative prefix or suffix, also add its negation."""
    # Negative adverbs become :polarity - later (see `clauses.write_negation`).
    if word.lemma in {"not", "n't"} or (word.dep == "neg" and word.lower != "never"):
        return
    lexicon, stem = state.lexicon, _adverb_stem(word.lower)
    known = "so" if word.lower == "so" else lexicon.best_concept(word.lemma, "r")
    # "never" gets the concept "ever" here. Later, `clauses.write_negation` negates the clause.
    if word.lower == "never":
        state.add("ever", word.i, "never")
    elif known is not None and known != DELETED:
        node = state.add(known, word.i, "table")
        if _is_negation_of(stem, known):
            state.add_constant(node, "polarity", "-", word.i, "negative")
    elif known is None and stem == word.lower:
        state.add(word.lemma, word.i, "adverb")
    # "happily" gets happy-01, and "unhappily" gets happy-01 with :polarity -.
    elif known is None:
        base = _negated_concept(state, stem)
        concept = base or lexicon.best_concept(stem, "j")
        if concept in {None, DELETED}:
            concept = next(iter(lexicon.candidates(stem, "j")), stem)
        node = state.add(concept or stem, word.i, "adverb")
        if base is not None:
            state.add_constant(node, "polarity", "-", word.i, "negative")


def _adverb_stem(word: str) -> str:
    """Return the adjective from which a regular adverb is formed.

    >>> _adverb_stem("happily"), _adverb_stem("gently"), _adverb_stem("really"), _adverb_stem("only")
    ('happy', 'gentle', 'real', 'only')

    Returns:
        The adjective; the word itself if it is not a regular adverb in *-ly*.
    """
    if not word.endswith("ly") or len(word) < 6 or word in _NO_ADVERBS:
        return word
    stem = word[:-2]
    if stem.endswith("i"):
        return f"{stem[:-1]}y"
    return f"{stem}le" if stem.endswith(("ab", "ib", "mp", "bt")) or word in _IN_LE else stem


def _write_number(state: RuleState, word: Word) -> None:
    """Add a number as a constant (*two*), or as a concept if it has no exact value (*dozens*)."""
    value = number_value(word.lower)
    # "One day he left" means "some day", so "one" does not count days here.
    days = {"day", "morning", "evening", "afternoon", "night"}
    some_day = word.i + 1 == word.head and word.parent.lemma in days
    if value is None:
        state.add(word.lower, word.i, "number")
    # In "the red one", "one" is a pronoun, so it gets a concept instead of a constant.
    elif word.lower == "one" and (some_day or word.dep != "nummod"):
        state.add("one", word.i, "one-day" if some_day else "number")
    else:
        state.set_node(word.i, state.draft.constant(value, word.i, "number"))


def _write_preposition(state: RuleState, word: Word) -> None:
    """Add the concept of a preposition or particle, unless it only determines a role."""
    lexicon = state.lexicon
    if word.dep in {"mark", "agent"} or word.lower == "like":
        return
    if word.child("pobj", "pcomp") is not None:
        # Most prepositions only determine a role. A preposition that has a meaning of its own ("under the
        # table") gets a node if annotators mostly gave it one.
        if word.lower in word_class("preposition-concept") and word.dep == "prep":
            counts = lexicon.concepts.get((word.lemma, "in"), {})
            if counts.get(word.lower, 0) >= counts.get(DELETED, 0) * 0.6:
                state.add(word.lower, word.i, "preposition")
    elif word.dep == "prt":
        concept = lexicon.best_concept(word.lemma, word.tag.lower())
        # The particle of "sit down" is part of sit-down-02, so it gets no node.
        named = state.core_of(word.parent) is not None and state.concept_of(word.head).count("-") > 1
        if not named and concept not in {None, DELETED}:
            state.add(concept or word.lower, word.i, "particle")
    elif word.lower not in {"of", "than", "that"}:
        concept = lexicon.best_concept(word.lemma, "in")
        # In "He came in", the preposition has no object and is used as an adverb, so it gets a node.
        adverbial = word.dep in {"advmod", "npadvmod", "prep", "acomp", "ROOT", "conj"}
        if adverbial and concept != DELETED:
            state.add(concept or word.lower, word.i, "preposition")


def _write_determiner(state: RuleState, word: Word) -> None:
    """Add the concept of a determiner such as *this*, *all* or *some*."""
    if word.lower == "no":
        # In "No, thanks.", "no" is an answer and gets the concept "no". In "no man", "no" is a negation and
        # gets no concept (see `clauses.write_negation`).
        if word.dep in {"intj", "ROOT", "advmod", "dep", "meta"}:
            state.add("no", word.i, "no")
        return
    # The pronoun in "the man that left" and the conjunction in "he said that he left" get no node. "half" in
    # "half a day" gets no node either.
    relative = word.lower == "that" and word.dep == "nsubj" and word.parent.dep == "relcl"
    if word.dep == "mark" or relative or (word.lower == "half" and word.dep == "predet"):
        return
    state.add({"these": "this", "those": "that"}.get(word.lower, word.lower), word.i, "determiner")


def _write_interjection(state: RuleState, word: Word) -> None:
    node = state.add(word.lower, word.i, "interjection")
    # "Wow!" expresses a feeling, so it gets :mode expressive, as AMR requires.
    if word.lower in word_class("expressive"):
        state.add_constant(node, "mode", "expressive", word.i, "interjection")


_WRITERS_BY_TAGS: dict[str, Callable[[RuleState, Word], None]] = {
    "VB VBD VBG VBN VBP VBZ": _write_verb,
    "NN NNS": _write_noun,
    "JJ JJR JJS": _write_adjective,
    "RB RBR RBS": _write_adverb,
    "CD": _write_number,
    "IN RP": _write_preposition,
    "DT PDT": _write_determiner,
    "UH": _write_interjection,
}
_WRITERS = {tag: writer for tags, writer in _WRITERS_BY_TAGS.items() for tag in tags.split()}
