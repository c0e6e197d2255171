"""Which nodes a noun becomes: its lemma, a frame, ``person :ARG0-of`` a frame, a kinship role.

*dog*: ``dog``; *decision*: ``decide-01``; *painter*: ``(p / person :ARG0-of (p2 / paint-01))``;
*my aunt*: ``(p / person :ARG0-of (h / have-rel-role-91 :ARG2 (a / aunt)))``.
"""

from __future__ import annotations

from graphneg.english.noun_kinds import is_frame
from graphneg.english.words import readings
from graphneg.parsers.dependency.lexicon import word_class, word_map
from graphneg.parsers.dependency.rules.frames import known_concepts, verbal_frames
from graphneg.parsers.dependency.rules.state import RuleState
from graphneg.parsers.dependency.words import Word

_RELATIVES = word_map("relative")
_AGENT_NOUNS = word_class("agent-noun")
_AGENT_ENDINGS = ("er", "or", "ist")
_EVENT_ENDINGS = ("tion", "sion", "ment", "ance", "ence", "al", "ing", "ure")


def write_noun(state: RuleState, word: Word) -> None:
    """Writes the noun's nodes."""
    lemma = word.lemma
    owned = word.child("poss") is not None or word.child_word("prep", "of") is not None
    if lemma in _RELATIVES and (lemma == "friend" or owned):
        _write_relation(state, word)
        return
    known = known_concepts(state, lemma, "n")
    if known:
        _write_known(state, word, max(known, key=lambda concept: known[concept]))
    elif lemma in _AGENT_NOUNS:
        _write_agent(state, word, "person")
    else:
        frames = verbal_frames(state, lemma, "n") if lemma.endswith(_EVENT_ENDINGS) else []
        state.add(frames[0] if frames else lemma, word.i, "nominal" if frames else "word")


def _write_known(state: RuleState, word: Word, concept: str) -> None:
    """A noun that was mostly this concept in annotated graphs; of *bookseller* the book is what is sold."""
    lemma = word.lemma
    tail = next((lemma[k:] for k in range(len(lemma)) if _does(lemma[k:], concept)), None)
    first = "" if tail is None else lemma.removesuffix(tail)
    if tail is not None and (tail == lemma or "NOUN" in readings(first)):
        _write_doer(state, word, state.add("person", word.i, "agent"), concept)
        if tail != lemma:
            thing = state.draft.concept(first, word.i, "agent")
            state.draft.link(state.core[word.i], "ARG1", thing, "agent")
    elif concept in {"person", "thing"} and lemma != concept:
        _write_agent(state, word, concept)
    else:
        state.add(concept, word.i, "table")


def _does(noun: str, concept: str) -> bool:
    """Whether the noun is who does what the frame says.

    >>> _does("player", "play-01"), _does("order", "order-01"), _does("swimmer", "swim-01")
    (True, False, True)
    """
    verb = concept.rpartition("-")[0]
    return noun.endswith(("er", "or")) and is_frame(concept) and verb != noun and noun.startswith(verb[:-1])


def _write_agent(state: RuleState, word: Word, concept: str) -> None:
    """*painter*: ``(person :ARG0-of paint-01)`` where the verb has a frame."""
    node = state.add(concept, word.i, "agent")
    if not word.lemma.endswith(_AGENT_ENDINGS) or concept != "person":
        return
    for stem in (word.lemma[:-2], word.lemma[:-1], word.lemma[:-3]):
        frames = state.lexicon.candidates(stem, "v")
        if frames:
            _write_doer(state, word, node, frames[0])
            return


def _write_doer(state: RuleState, word: Word, person: int, frame: str) -> None:
    inner = state.draft.concept(frame, word.i, "agent")
    state.draft.link(inner, "ARG0", person, "agent")
    state.core[word.i] = inner
    state.persons[word.i] = person


def _write_relation(state: RuleState, word: Word) -> None:
    draft, person = state.draft, state.add("person", word.i, "relation")
    role = draft.concept("have-rel-role-91", word.i, "relation")
    kind = draft.concept(_RELATIVES[word.lemma], word.i, "relation")
    draft.link(role, "ARG0", person, "relation")
    draft.link(role, "ARG2", kind, "relation")
