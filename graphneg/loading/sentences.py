"""Sentences of a pool: how texts are cut into them, and what the store keeps about each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from graphneg.content_words import (
    CLOSED,
    WORD,
    content_lemmas,
    readings_of,
    with_clitics,
    word_count,
    word_set,
)
from graphneg.hashing import number
from graphneg.model import Sentence

RANKS = 1 << 31
"""Ranks are whole numbers from 0 to this."""

FIRST, SECOND, THIRD = 1, 2, 3
_FIRST = word_set("i me my mine myself we us our ours ourselves")
_SECOND = word_set("you your yours yourself yourselves")
_FINITE = word_set(
    "am is are was were has have had do does did will would can could shall should may might must "
    "don't doesn't didn't won't wouldn't can't couldn't cannot shouldn't isn't aren't wasn't weren't haven't "
    "hasn't hadn't i'm i've i'll i'd you're you've you'll we're we've we'll they're they've they'll he's "
    "she's it's that's there's let's what's who's"
)
_SUBJECTS = word_set("i you he she we they it")
_CARELESS = word_set(
    "im ive dont doesnt didnt isnt arent wasnt werent wont wouldnt cant couldnt shouldnt havent hasnt hadnt "
    "thats whats theres theyre youre u ur r thx pls plz lol gonna wanna gotta kinda dunno alot"
)
_ASIDE = re.compile(r"((?:I|You)(?:['’]\w+)? \w+),")
_TWICE = word_set("that had very so really long")
_END = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z])")
_NO_END = re.compile(r"(?:^|\W)(?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|No|U\.S|a\.m|p\.m|[A-Z])\.$")
_PLAIN = re.compile(r"(?=[A-Z])(?:[\w\s,'’-]|(?:(?<=\bMr)|(?<=\bMs)|(?<=\bDr)|(?<=\bMrs))\.)*[.!?]")
_SPACE_BEFORE = re.compile(r"\s+([.,!?;:)%]|['’](?:s|m|d|re|ve|ll)\b|n['’]t\b)")


def sentences_in(text: str) -> Iterator[str]:
    """The sentences of a text, white space made single; a short form does not end one.

    >>> list(sentences_in("Mr. Ode left.  Did he  say why?"))
    ['Mr. Ode left.', 'Did he say why?']
    """
    held = ""
    for part in _END.split(" ".join(text.split())):
        held = f"{held} {part}" if held else part
        if held and not _NO_END.search(held):
            yield held
            held = ""
    if held:
        yield held


def joined_tokens(text: str) -> str:
    """A text that was cut into tokens, written as people write.

    >>> joined_tokens("They do n't know , but it 's Ann ' s .")
    "They don't know, but it's Ann's."
    """
    joined = _SPACE_BEFORE.sub(r"\1", with_clitics(" ".join(text.split())))
    return joined.replace("( ", "(").replace("$ ", "$").replace("`` ", '"').replace(" ''", '"')


def sentence_row(sentence: Sentence) -> dict[str, Any]:
    """The properties of a ``Sentence`` node; ``terms`` are the content lemmas that it mentions."""
    text = sentence.text
    words = [word.lower().replace("’", "'") for word in WORD.findall(text)]
    terms = content_lemmas(text)
    return {
        "id": sentence.id,
        "text": text,
        "source": sentence.source,
        "dialogue": sentence.dialogue or "",
        "words": word_count(text),
        "content": len(terms),
        "mood": mood_of(text),
        "person": _person(words),
        "opening": _opening(text, words),
        "finite": _is_finite(words),
        "plain": _PLAIN.fullmatch(text) is not None and _is_careful(text, words),
        "rank": number(0, "sentence", sentence.id) % RANKS,
        "terms": list(terms),
    }


def _is_careful(text: str, words: Sequence[str]) -> bool:
    """Whether it is written with apostrophes, without a dash, and says no word twice in a row."""
    if " - " in text or not _CARELESS.isdisjoint(words):
        return False
    return not any(a == b and a not in _TWICE for a, b in pairwise(words))


def mention_rows(sentences: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each term that sentences mention, with their places and scores: who speaks of less says more of it."""
    places: dict[str, list[int]] = {}
    for place, row in enumerate(sentences):
        for term in row["terms"]:
            places.setdefault(term, []).append(place)
    return [
        {
            "text": term,
            "places": places[term],
            "scores": [1.0 / len(sentences[place]["terms"]) for place in places[term]],
            "spoken": sum(sentences[place]["dialogue"] != "" for place in places[term]),
        }
        for term in sorted(places)
    ]


def mood_of(text: str) -> str:
    """``question``, ``exclamation`` or ``statement``, by the text's last mark."""
    end = text.rstrip("\"'”’) ")[-1:]
    return {"?": "question", "!": "exclamation"}.get(end, "statement")


def person_of(text: str) -> int:
    """The lowest grammatical person that the text speaks of: 1, 2 or 3.

    >>> person_of("You never met us."), person_of("You never met them."), person_of("It rains.")
    (1, 2, 3)
    """
    return _person([word.lower().replace("’", "'") for word in WORD.findall(text)])


def _opening(text: str, words: Sequence[str]) -> str:
    """The first word in lower case; of *I see,* and *You're right,* both words."""
    aside = _ASIDE.match(text)
    return aside[1].lower().replace("’", "'") if aside else words[0] if words else ""


def _person(words: Sequence[str]) -> int:
    """The lowest grammatical person that the words speak of: 1, 2 or 3."""
    bare = {word.partition("'")[0] for word in words}
    return FIRST if bare & _FIRST else SECOND if bare & _SECOND else THIRD


def _is_finite(words: Sequence[str]) -> bool:
    """Whether a finite verb stands in it, as far as forms tell: *was*, *we go*, *took*; not *old cars*."""
    for before, word in zip(("", *words), words, strict=False):
        if word in _FINITE or (before in _SUBJECTS and word not in CLOSED) or _is_past(word):
            return True
    return False


@lru_cache(maxsize=1 << 16)
def _is_past(word: str) -> bool:
    """Whether the form is a past tense that is no other form: *took*, *went*."""
    if word in CLOSED or word.endswith(("s", "ing", "en")):
        return False
    readings = readings_of(word)
    return set(readings) == {"VERB"} and readings["VERB"][0] != word
