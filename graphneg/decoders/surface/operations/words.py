"""Replace the word of a node by the word of a different concept or constant, in the same inflected form.

The new word gets the inflection of the old word ("bigger" -> "smaller", "gave" -> "took"). Then the words
around it are adjusted: particles, articles, plural nouns after numbers, and verbs that agree with the new
word. `set_concept` replaces concepts, and `set_value` replaces constants such as numbers and names. The
module `refusals` refuses new words that do not fit into the sentence.

Example: "It is bigger." with ``big`` set to ``small`` becomes "It is smaller."
"""

from __future__ import annotations

import re
from functools import lru_cache

from graphneg.decoders.surface.agreement import (
    agree_relative,
    agree_with,
    case_of,
    follow,
    is_subject,
    person_of,
    third_person,
)
from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.draft import RealisationError, Token
from graphneg.decoders.surface.inflection import (
    BE,
    HAVE,
    Case,
    adjective_form,
    adverb_of,
    agree,
    can_lack_article,
    degree,
    noun_form,
    pronoun_cases,
    verb_form,
    verb_lemma,
)
from graphneg.decoders.surface.refusals import refuse_expletive, refuse_misplaced_word
from graphneg.decoders.surface.valency import refuse_misplaced_verb
from graphneg.english.lexicon import english
from graphneg.english.noun_kinds import OTHER, is_frame, kind_of, lexeme
from graphneg.english.numbers import MONTHS, NUMBERS, ORDINALS, WEEKDAYS
from graphneg.english.propbank import load_frames
from graphneg.english.tagging import CLOSED, NOUNS, VERBS
from graphneg.english.words import lemmas, readings, word_class, word_list, word_map

# Days and months are written with a capital letter.
_CAPITALS = frozenset((*WEEKDAYS, *MONTHS))
# Endings of nouns for people who do something: "teacher", "actor".
_AGENTS = tuple(word_list("person-endings"))
_WORDS_OF_NUMBERS = {
    **{number: word for word, number in NUMBERS.items()},
    **{100: "one hundred", 1000: "one thousand", 1_000_000: "one million"},
}
_WORDS_OF_ORDINALS = {number: word for word, number in ORDINALS.items()}


def set_concept(sentence: SentenceDraft, k: int, concept: str) -> None:
    """Replace the words that express a node by the word for a different concept.

    Args:
        sentence: The sentence, edited in place.
        k: The index of the node in the graph.
        concept: The new concept.

    Raises:
        RealisationError: The new word does not exist in the required form (``no-form``), does not fit into
            the sentence (``kind-mismatch``, ``no-form``), or equals the old word (``unchanged``).

    Example:
        "He ran quickly." with ``quick-02`` set to ``slow-05`` becomes "He ran slowly."
    """
    node, index, tokens = sentence.node(k), sentence.head(k), sentence.tokens
    token, frame = tokens[index], is_frame(concept)
    if pronoun_cases(node.concept or "") and "NOUN" in readings(concept) and not frame:
        _pronoun_to_noun(sentence, k, concept)
        return
    old, wanted = lexeme(node.label), lexeme(concept)
    # Refuse to replace *bank* in "The bank account is mine": it is only the first part of a compound, and the
    # rest of the compound would not fit the new word.
    argument = (node.role or "").startswith(("ARG", "op", "location", "destination"))
    compound = argument and sentence.is_noun(index) and sentence.is_noun(index + 1)
    if compound and not is_frame(node.concept or ""):
        raise RealisationError("kind-mismatch", f"'{token.text}' is the first part of a compound")
    refuse_misplaced_word(sentence, index, old, wanted, node.role or "")
    _drop_rest(sentence, k)
    particle = old.rpartition(" ")[2]
    if particle != old and token.tag in VERBS and particle in word_class("phrasal-particles"):
        # Remove the particle of a phrasal verb: "She took it away" -> "She brought it".
        index = tokens.index_of(token)
        for other in [other for other in tokens[index + 1 : index + 7] if other.lower == particle][:1]:
            # Refuse to remove the particle in "They ran out of milk" and "I put up with it": the preposition
            # depends on the particle and would not fit another verb.
            if (preposition := tokens.get(tokens.index_of(other) + 1).lower) in word_class("after-particle"):
                raise RealisationError("no-form", f"'{old} {preposition}' is a fixed phrase")
            tokens.remove(other)
    # Test whether the old word is a noun for an event, such as *arrival*, because only such a noun can be
    # replaced by a noun for another event. The *cook* in "a cook" has the form of a verb, but is not an
    # event.
    event = token.lower != old and not lemmas(token.lower).isdisjoint(_nouns_of(node.concept or ""))
    if token.tag in VERBS and token.tag != "MD" and frame:
        refuse_misplaced_verb(sentence, token, node.concept or "", concept)
    elif token.tag in NOUNS and frame and not (is_nominal(concept, wanted) or (event and _nouns_of(concept))):
        raise RealisationError("no-form", f"'{wanted}' is a verb, and '{token.text}' is a noun")
    elif token.tag in NOUNS and frame and kind_of(wanted) == OTHER != kind_of(old):
        raise RealisationError("no-form", f"'{wanted}' is rarely a noun, and '{token.text}' usually is one")
    if token.tag == "MD" and "ADJ" in readings(wanted.split(" ")[-1]):
        _modal_to_adjective(sentence, token, wanted)
        return
    words = _inflected(sentence, token, old, wanted, concept).split(" ")
    if words[0].lower() == token.lower and len(words) == 1:
        raise RealisationError("unchanged", f"'{wanted}' and '{old}' are the same word here")
    _write(sentence, token, words)
    if token.tag == "NN":
        _fit_article(sentence, token, old)
    if token.tag in NOUNS or token.tag in ("PN", "PRS"):
        agree_with(sentence, token)
    _follow_noun(sentence, token, old)


def _pronoun_to_noun(sentence: SentenceDraft, k: int, noun: str) -> None:
    """Replace a pronoun by *the* and a noun: "He loves his dog" -> "The girl loves her dog"."""
    token, *others = [sentence.tokens[index] for index in sentence.indices(k)]
    old = sentence.node(k).concept or ""
    case, subject = case_of(sentence, token, old), is_subject(sentence, token)
    if old == "it":
        refuse_expletive(sentence, token)
    sentence.rewrite(token, "the", "DT")
    head = Token(noun.capitalize() if noun in _CAPITALS else noun, "NN")
    owner = [Token("'s", "POS")] if case in (Case.POSSESSIVE, Case.OWN) else []
    sentence.insert(sentence.tokens.index_of(token) + 1, head, *owner)
    follow(sentence, others, old, third_person([head], old))
    if subject:
        agree_with(sentence, head)


def _follow_noun(sentence: SentenceDraft, token: Token, old: str) -> None:
    """Change *he* to *she*, or the reverse, after the noun to which the pronoun refers was replaced.

    A pronoun with a node of its own in the graph may refer to another person, so it is not changed.
    """
    person = {True: "he", False: "she"}["man" in english().classes_of(old)]
    if english().classes_of(old).isdisjoint(("man", "woman")) or token.tag not in NOUNS:
        return
    owned = {id(other) for tokens in sentence.tokens_of_node.values() for other in tokens}
    start, end = sentence.sentence_bounds(sentence.tokens.index_of(token))
    near = [other for other in sentence.tokens[start:end] if id(other) not in owned]
    follow(sentence, near, person, third_person([token], person))


def _modal_to_adjective(sentence: SentenceDraft, token: Token, wanted: str) -> None:
    """Replace a modal by an adjective: "It can carry him" -> "It is unlikely to carry him".

    Raises:
        RealisationError: The modal is in a question or has no main verb (``unsupported-edit``).
    """
    index = sentence.tokens.index_of(token)
    group = next((group for group in sentence.parse_verbs() if group.first == index), None)
    if group is None or group.inverted or group.subject is None or len(group.chain) < 2:
        raise RealisationError(
            "unsupported-edit",
            f"the modal '{token.text}' can't become '{wanted}' in a question or without a main verb",
        )
    tag = "VBD" if token.lower in word_class("past-modals") else "VBP"
    second = group.second
    sentence.rewrite(token, agree("be", tag, person_of(group.subject_tokens)), "AX")
    sentence.insert(sentence.tokens.index_of(second), Token(wanted, "JJ"), Token("to", "TO"))


def _fit_article(sentence: SentenceDraft, token: Token, old: str) -> None:
    """Add or remove an article if only one of two nouns, the old or the new one, is countable.

    Examples: "I drink water" -> "I drink a cup", "I have a cup" -> "I have information".
    """
    tokens, index = sentence.tokens, sentence.tokens.index_of(token)
    start, end = sentence.noun_phrase(index)
    first, before, following = tokens[start], tokens.get(start - 1), tokens.get(end)
    # Change no article in "much water" and "the same water": *much* and *same* exclude an indefinite article.
    if any(other.lower in word_class("amounts") for other in tokens[start:end]):
        return
    bare = first.tag not in ("DT", "PS", "CD", "POS", "PN") and end == index + 1
    governed = start == 0 or before.tag in (*VERBS, "IN", "RB", "NEG")
    if bare and governed and can_lack_article(old) and not can_lack_article(token.lower):
        if following.tag not in ("CC", "POS") or following.lower == "but":
            sentence.insert(start, Token("a", "DT"))
    elif first.lower in word_class("indefinite-articles") and token.lower in word_class("never-counted"):
        sentence.cut(start, start + 1)


def _drop_rest(sentence: SentenceDraft, k: int) -> None:
    """Remove all words that express a node, except the first."""
    for token in [sentence.tokens[index] for index in sentence.indices(k)[1:]]:
        sentence.tokens.remove(token)


def _write(sentence: SentenceDraft, token: Token, words: list[str]) -> None:
    """Replace the word of a token by one or more new words."""
    first, *rest = words
    sentence.rewrite(token, first)
    index, verbal = sentence.tokens.index_of(token) + 1, token.tag in VERBS
    # Put the particle of a new verb after an object pronoun: with *take away*, "I saw it" becomes "I took it
    # away".
    if rest and verbal and sentence.tokens.get(index).tag == "PRO":
        index += 1
    sentence.insert(index, *[Token(word, "RB" if verbal else token.tag) for word in rest])


def _inflected(sentence: SentenceDraft, token: Token, old: str, wanted: str, concept: str) -> str:
    """Return the new word or words, inflected like the old word."""
    tag = token.tag
    wanted = wanted.capitalize() if wanted in _CAPITALS else wanted
    # In "It was open", the word after *be* is an adjective, even if the tagger takes it for a verb.
    looks_like_verb = tag in ("VB", "VBP") and _follows(sentence, token, BE)
    participle = tag in ("VBN", "VBG") and not _is_verb(wanted)
    if tag in VERBS and tag != "MD" and not participle and not looks_like_verb:
        if not _is_verb(wanted):
            raise RealisationError("no-form", f"'{wanted}' is not a verb")
        # After *have*, a verb that was tagged as a past form is a participle: "has just received".
        perfect = tag == "VBD" and _follows(sentence, token, HAVE)
        return _verb(
            wanted,
            "VBN"
            if perfect
            else word_map("auxiliary-tenses").get(token.lower, "VBP")
            if tag == "AX"
            else tag,
        )
    if tag == "MD":
        raise RealisationError("unsupported-edit", f"the modal '{token.text}' can't become '{wanted}'")
    if tag == "JJ" or participle or looks_like_verb:
        return _adjective(sentence, token, old, wanted, concept)
    if tag == "RB":
        known = readings(wanted.split(" ")[-1])
        if known.keys().isdisjoint(("ADV", "ADJ")) and "RB" not in CLOSED.get(wanted, {}):
            raise RealisationError("no-form", f"'{wanted}' is not an adverb")
        # If the old word is an adverb in *-ly*, derive an adverb: "He ran quickly" (``quick-02``) -> "He ran
        # slowly" (``slow-05``).
        if token.lower.endswith("ly") and not old.endswith("ly"):
            return adverb_of(wanted)
        return adjective_form(wanted, "JJ" if token.lower == old else degree(token.text))
    if tag in NOUNS:
        return _noun(token, old, wanted, concept)
    like = tag in CLOSED.get(wanted, {})
    if not like and not (tag in ("PN", "PRS", "PRO") and "NOUN" in readings(wanted)):
        raise RealisationError("no-form", f"'{wanted}' can't replace '{token.text}'")
    # Keep the letter case of the old word. Capitals at the start of a sentence are set later.
    if token.sentence_initial or not token.text[:1].isupper():
        return wanted
    shouted = len(token.text) > 1 and token.text.isupper() and token.text.isalpha()
    return wanted.upper() if shouted else wanted[:1].upper() + wanted[1:]


def _is_verb(wanted: str) -> bool:
    """Return whether a word can be a verb. An unknown word counts as a verb."""
    known = readings(wanted.split(" ")[0])
    return "VERB" in known or not known


def _follows(sentence: SentenceDraft, token: Token, verbs: frozenset[str]) -> bool:
    """Return whether a verb in ``verbs`` precedes a word, directly or before adverbs: "has just received"."""
    index = sentence.tokens.run_start(sentence.tokens.index_of(token), ("RB", "NEG"))
    return sentence.tokens.get(index - 1).expanded in verbs


def _verb(wanted: str, tag: str) -> str:
    """Inflect a verb, given its lemma with any particles: "take away" -> "took away"."""
    first, _, rest = wanted.partition(" ")
    return f"{verb_form(first, tag)} {rest}".strip()


def _adjective(sentence: SentenceDraft, token: Token, old: str, wanted: str, concept: str) -> str:
    """Return the new word as an adjective or participle, in the degree of the old word, such as "smaller"."""
    head, frame = wanted.split(" ")[-1], is_frame(concept)
    known, shown = readings(head), "JJ" if token.lower == old else degree(token.text)
    index = sentence.tokens.index_of(token)
    modifies = sentence.is_noun(index + 1)
    if "JJ" not in CLOSED.get(head, {"JJ": 0.0}):
        raise RealisationError("no-form", f"'{wanted}' is not an adjective")
    # If a verb expresses the new frame, use its participle: "It was open" -> "It was closed"; "a moving
    # story" -> "an exciting story".
    if frame and shown == "JJ" and not is_adjectival(concept, wanted) and "VERB" in known:
        present = token.lower.endswith("ing") and "VERB" in readings(token.lower)
        return _verb(wanted, "VBG" if present else "VBN")
    if "ADJ" in known or not known:
        return adjective_form(wanted, shown)
    # A verb replaces an adjective as a participle. Use the past participle if the old word ends in *-ed* or
    # *-en* ("a closed door"), and the present participle for all other words.
    if "VERB" in known and frame:
        return _verb(wanted, "VBN" if token.tag == "VBN" or token.lower.endswith(("ed", "en")) else "VBG")
    # Before a noun, a noun can take the place of an adjective: "a wooden house" -> "a brick house".
    if "NOUN" in known and modifies and kind_of(head) != OTHER:
        return wanted
    raise RealisationError("no-form", f"'{wanted}' has no form that can replace '{token.text}'")


def _noun(token: Token, old: str, wanted: str, concept: str) -> str:
    """Return the new word as a noun with the number (singular or plural) of the old word."""
    frame = is_frame(concept)
    known, name = readings(wanted.split(" ")[-1]), wanted[:1].isupper()
    nominal = known.keys() & ({"NOUN", "PROPN", "VERB"} if frame else {"NOUN"})
    if known and not nominal and not name:
        raise RealisationError("no-form", f"'{wanted}' is not a noun")
    plural = token.lower != old and token.lower == noun_form(old, "NNS")
    tag = "NNS" if token.tag == "NNS" or plural else "NN"
    if tag == "NNS" and wanted in word_class("no-plural"):
        raise RealisationError("no-form", f"'{wanted}' has no plural")
    if name:
        return wanted
    if not frame or (old.split(" ")[-1] in lemmas(token.text) and "NOUN" in known):
        return noun_form(wanted, tag)
    # If a verb such as *write* replaces a noun, derive a noun with the suffix of the old noun: "The teacher
    # came" -> "The writer came".
    derived = _derived(token.lower, verb_lemma(wanted), tag)
    # Prefer the nouns that PropBank lists for the frame: "his arrival" -> "his departure", not "his
    # department".
    nouns = [] if token.lower.endswith(_AGENTS) else _nouns_of(concept)
    inflected = [noun_form(noun, tag) for noun in nouns]
    if derived is not None and (not nouns or derived in inflected):
        return derived
    if inflected and wanted not in nouns:
        return inflected[0]
    if "NOUN" in readings(wanted) and not token.lower.endswith(_AGENTS):
        return noun_form(wanted, tag)
    if "VERB" in readings(wanted.split(" ")[0]) and not token.lower.endswith(_AGENTS):
        return noun_form(_verb(wanted, "VBG"), tag)
    raise RealisationError("no-form", f"no noun of '{wanted}' can replace '{token.text}'")


def _derived(model: str, wanted: str, tag: str) -> str | None:
    """Derive a noun from a verb, with a suffix of the same kind as that of a model noun.

    For example, the model *teacher* and the verb *write* give *writer*; *decision* and *move* give
    *movement*.

    Returns:
        The derived noun, or None if no such noun is known.
    """
    bare = model[:-1] if tag == "NNS" and model.endswith("s") else model
    # Possible spellings of the stem before a suffix: "writ-er", "read-er", "swimm-er", "carri-er".
    stems = (re.sub(r"(?:e|y)$", "", wanted), wanted, wanted + wanted[-1:], wanted[:-1] + "i")
    for ending, suffixes in word_map("suffixes-alike").items():
        if bare.endswith(ending):
            candidates = (stem + suffix for suffix in suffixes.split("/") for stem in stems)
            known = next((word for word in candidates if kind_of(word) != OTHER), None)
            if known is not None:
                return noun_form(known, tag)
    return None


def is_nominal(concept: str, word: str) -> bool:
    """Return whether a noun can express a frame.

    Args:
        concept: The frame, for example ``depart-01``.
        word: The noun, for example *departure*.

    Returns:
        True if PropBank lists the noun as an alias of any frame. Also true if PropBank does not contain the
        frame, or lists no verb for it.
    """
    frame = load_frames().frames.get(concept)
    return frame is None or not frame.verbal or ("n", word) in load_frames().aliases


@lru_cache(maxsize=4096)
def _nouns_of(concept: str) -> tuple[str, ...]:
    """Return the nouns that PropBank lists as words for a frame: *departure* for ``depart-01``."""
    aliases = load_frames().aliases.items()
    return tuple(word for (pos, word), frames in aliases if pos == "n" and concept in frames)


def is_adjectival(concept: str, word: str) -> bool:
    """Return whether an adjective can express a frame.

    Args:
        concept: The frame, for example ``clean-04``.
        word: The adjective, for example *clean*.

    Returns:
        False if PropBank lists the word only as a verb of the frame, such as *close* for ``close-01``.
        Otherwise True.

    Example:
        >>> is_adjectival("clean-04", "clean"), is_adjectival("close-01", "close")
        (True, False)
    """
    table = load_frames()
    return concept in table.candidates(word, "j") or concept not in table.candidates(word, "v")


def set_value(sentence: SentenceDraft, k: int, value: str) -> None:
    """Replace the words of a constant: a number, a month, an ordinal or a part of a name.

    Args:
        sentence: The sentence, edited in place.
        k: The index of the constant's node.
        value: The new constant, with or without quotation marks.

    Raises:
        RealisationError: The constant cannot be written in words (``unsupported-edit``), or the number is a
            part of another word (``no-form``): "a two-door car".

    Example:
        "He stayed six years." with 6 set to 1 becomes "He stayed one year."
    """
    node = sentence.node(k)
    token = sentence.tokens[sentence.head(k)]
    bare = value.strip('"')
    if not bare or bare in ("-", "+"):
        raise RealisationError("unsupported-edit", f"the constant {value} is not a word")
    if re.search(r"[0-9a-z]-[a-z]", token.lower) and any(
        part not in NUMBERS for part in token.lower.split("-")
    ):
        raise RealisationError("no-form", f"the number is a part of the word '{token.text}'")
    parent = "" if node.parent is None else sentence.node(node.parent).label
    shown = _value_words(token, bare, node.role or "", parent)
    _drop_rest(sentence, k)
    _write(sentence, token, shown.split(" "))
    if node.role not in ("quant", "op1") or not re.fullmatch(r"\d+", bare):
        return
    tokens, number = sentence.tokens, int(bare)
    # The number counts the last noun of a compound: "one meeting room" -> "two meeting rooms".
    head = tokens.run_end(tokens.index_of(token) + 1, ("JJ", "CD", "RB"))
    while tokens.get(head).tag in ("NN", "VBG") and tokens.get(head + 1).tag in ("NN", "NNS"):
        head += 1
    noun = tokens.get(head)
    # Keep a noun that did not agree with the old number: "60 euro" becomes "50 euro".
    if not re.fullmatch(r"\d+", node.value or "") or (node.value == "1") == (noun.tag == "NNS"):
        return
    # Adjust the number of the noun: "six years" -> "one year".
    if noun.tag in ("NN", "NNS") and (number == 1) == (noun.tag == "NNS"):
        singular = readings(noun.lower).get("NOUN", (noun.lower,))[0]
        tag = "NN" if number == 1 else "NNS"
        if (form := noun_form(singular, tag)) != noun.lower:
            sentence.rewrite(noun, form, tag)
            agree_with(sentence, noun)
            agree_relative(sentence, [noun])


def _value_words(token: Token, bare: str, role: str, parent: str) -> str:
    """Return the words for a constant in the style of the old words: digits or words, abbreviated or not.

    Raises:
        RealisationError: No word is known for the new ordinal, or its word is not an adverb although the old
            word was one (``no-form``).
    """
    if parent == "date-entity" and role == "month" and bare.isdigit() and not token.text.isdigit():
        month = MONTHS[(int(bare) - 1) % 12].capitalize()
        # An abbreviated month stays abbreviated: "in Feb" -> "in Jun". *May* is not an abbreviation.
        return month[:3] if len(token.text) == 3 and token.lower != "may" else month
    if parent == "ordinal-entity":
        word = _WORDS_OF_ORDINALS.get(int(bare)) if re.match(r"-?\d+$", bare) else None
        if word is None:
            raise RealisationError("no-form", f"there is no word for the ordinal {bare}")
        if token.tag == "RB" and int(bare) not in (1, -1):
            raise RealisationError("no-form", f"'{word}' is not an adverb")
        return word
    # A full hour in words stays in words: "from two to three" -> "from seven to three".
    if role == "time" and bare.endswith(":00") and token.lower in NUMBERS:
        return _WORDS_OF_NUMBERS[int(bare[:-3])]
    if not re.fullmatch(r"\d+", bare) or token.text[0].isdigit():
        return bare
    # If the old number was written in words, write the new number in words, too: "two" -> "four". Numbers of
    # 100 and more are written in digits, except round numbers such as 1,000.
    number, words = int(bare), _WORDS_OF_NUMBERS
    said = words.get(number, str(number) if number >= 100 else "")
    said = said or f"{words[number - number % 10]}-{words[number % 10]}"
    # *once* and *twice* express how often something happens: "I saw it once" -> "I saw it three times".
    if token.lower in word_map("times-as-adverbs"):
        adverbs = {times: adverb for adverb, times in word_map("times-as-adverbs").items()}
        return adverbs.get(str(number), f"{said} times")
    return said
