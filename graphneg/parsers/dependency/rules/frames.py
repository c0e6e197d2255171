"""Which concepts a verb, an adjective or a noun becomes: a PropBank frame with its sense, or its lemma.

In: a word and the lexicon. Out: the concept and the rule that chose it; a verb's sense is the one that fits
its arguments, what was seen in annotated graphs, and PropBank's order: *I used to run*: ``use-02``. Nouns may
become several nodes: *decision*: ``decide-01``; *painter*: ``(p / person :ARG0-of (p2 / paint-01))``;
*my aunt*: ``(p / person :ARG0-of (h / have-rel-role-91 :ARG2 (a / aunt)))``.
"""

from __future__ import annotations

from graphneg.english.frames import FrameEntry
from graphneg.english.lemmas import lemma_of
from graphneg.english.noun_kinds import is_frame
from graphneg.english.words import readings
from graphneg.parsers.dependency.lexicon import DELETED, word_class, word_map
from graphneg.parsers.dependency.rules.state import RuleState
from graphneg.parsers.dependency.text import Word, signature

_PREFIXES = ("un", "im", "in", "ir", "il", "dis")
_NO_ARGUMENTS = frozenset({"punct", "aux", "cc", "conj", "neg", "mark", "auxpass"})
_LIGHT_VERBS = {verb: word_class(f"light-verb {verb}") for verb in ("make", "take", "give", "have", "do")}
"""The nouns that speak for a verb: *take a look* (AMR guidelines 1.2.6)."""
_RELATIVES = word_map("relative")
_AGENT_NOUNS = word_class("agent-noun")
_AGENT_ENDINGS = ("er", "or", "ist")
_EVENT_ENDINGS = ("tion", "sion", "ment", "ance", "ence", "al", "ing", "ure")


def resolve_light_verbs(state: RuleState) -> None:
    """Lets the object stand for its light verb where the object has a frame of a verb's."""
    lexicon = state.lexicon
    for word in state.words:
        nouns = _LIGHT_VERBS.get(word.lemma) if word.tag[:2] == "VB" else None
        noun = word.child("dobj") if nouns is not None else None
        if nouns is None or noun is None or noun.lemma not in nouns or noun.i in state.done:
            continue
        counts = lexicon.concepts.get((noun.lemma, "n"), {})
        frames = verbal_frames(state, noun.lemma, "n") or lexicon.candidates(noun.lemma, "v")
        if frames:
            state.add(max(frames, key=lambda frame: counts.get(frame, 0)), noun.i, "light-verb")
            state.proxies[word.i] = noun.i


def verb_concept(state: RuleState, word: Word) -> tuple[str, str, int | None]:
    """The verb's frame, the rule that chose it, and the last of its words (a particle's)."""
    lexicon = state.lexicon
    particle = word.child("prt")
    if particle is None:
        particle = next((kid for kid in word.children("advmod", "prep") if kid.tag == "RP"), None)
    if particle is not None:
        frames = lexicon.candidates(f"{word.lemma}_{particle.lower}", "v")
        if frames:
            state.done.add(particle.i)
            last = particle.i if particle.i == word.i + 1 else None
            return _best_sense(state, word, frames), "particle", last
    frames = [frame for frame in lexicon.candidates(word.lemma, "v") if "_" not in frame]
    known = known_concepts(state, word.lemma, "v")
    if known:
        return _best_sense(state, word, list(dict.fromkeys([*frames[:12], *known]))), "table", None
    if frames:
        return _best_sense(state, word, frames), "frame", None
    return f"{word.lemma}-01", "unknown", None


def _best_sense(state: RuleState, word: Word, frames: list[str]) -> str:
    """The sense that fits the verb's arguments, what was seen in graphs, and PropBank's order."""
    lexicon = state.lexicon
    if len(frames) == 1:
        return frames[0]
    if word.lower == "used" and word.child("xcomp") and not word.child("dobj"):
        return "use-02"
    if word.lemma in {"like", "love"}:
        wished = word.child_word("aux", "would", "should", "'d") is not None
        return f"{word.lemma}-02" if wished else f"{word.lemma}-01"
    if word.lemma == "look" and "look-02" in frames and word.child("acomp", "oprd") is not None:
        return "look-02"
    if word.lemma == "make" and "make-02" in frames and word.child("ccomp", "xcomp", "oprd") is not None:
        return "make-02"
    counts = lexicon.concepts.get((word.lemma, "v"), {})
    total = sum(counts.values())
    forms = _forms(word)
    best, best_score = frames[0], -1.0
    for rank, frame in enumerate(frames):
        entry = lexicon.frames.get(frame)
        prior = 0.5 / (1 + rank) + 0.02 * min(0 if entry is None else entry.examples, 10)
        score = (counts.get(frame, 0) + 2 * prior) / (total + 2) * _room(entry, forms)
        for form in forms:
            score *= _fit(state, frame, form)
        if score > best_score:
            best, best_score = frame, score
    return best


def _room(entry: FrameEntry | None, forms: list[str]) -> float:
    """Little for a frame with fewer roles than the verb has subject and object."""
    if entry is None or "dobj" not in forms or "nsubj" not in forms:
        return 1.0
    return 0.3 if len(entry.functions) < 2 or "0" not in entry.functions else 1.0


def _forms(word: Word) -> list[str]:
    """The signatures of a verb's arguments."""
    forms: list[str] = []
    for kid in word.children():
        target: Word | None = None
        if kid.dep in {"prep", "dative"} and kid.tag in {"IN", "TO"}:
            target = kid.child("pobj", "pcomp")
        form = signature(word, target or kid)
        if form is not None and kid.dep not in _NO_ARGUMENTS:
            forms.append(form)
    return forms


def _fit(state: RuleState, frame: str, form: str) -> float:
    """How often the frame takes the form: 0.3 for never, 1.3 for always."""
    entry = state.lexicon.frames.get(frame)
    graphs = state.lexicon.roles.get(("F", frame, form), {})
    seen = sum(count for role, count in (entry.seen.get(form, {}) if entry else {}).items() if role != "M")
    examples = entry.examples if entry else 0
    trained = state.lexicon.totals.get(frame, 0)
    return 0.3 + min((seen + 0.5 * sum(graphs.values()) + 0.15) / (examples + 0.5 * trained + 1.0), 1.0)


def adjective_concept(state: RuleState, word: Word) -> tuple[str, str]:
    """The adjective's frame where it was seen as one or comes from a verb, else its lemma."""
    lexicon = state.lexicon
    if word.lower in {"much", "many", "little", "few"}:
        return word.lower, "table"
    known = known_concepts(state, word.lemma, "j")
    if known:
        best = max(known, key=lambda concept: known[concept])
        return best, "negative" if denies(word.lemma, best) else "table"
    base = positive(state, word.lemma) or denied_frame(state, word.lemma)
    if base is not None:
        return base, "negative"
    frames = verbal_frames(state, word.lemma, "j") or lexicon.candidates(word.lemma, "j")
    if frames:
        return frames[0], "frame"
    if word.lemma.endswith(("ed", "ing")):
        verb = lemma_of(word.lower, "VBN" if word.lemma.endswith("ed") else "VBG")
        frames = lexicon.candidates(verb, "v")
        if frames and verb != word.lower:
            return frames[0], "participle"
    return word.lemma, "word"


def verbal_frames(state: RuleState, lemma: str, kind: str) -> list[str]:
    """The frames of a noun or an adjective that are also a verb's."""
    return [frame for frame in state.lexicon.candidates(lemma, kind) if state.lexicon.frames[frame].verbal]


def denied_frame(state: RuleState, lemma: str) -> str | None:
    """The verb's frame that an adjective in *-less* denies: *fearless*."""
    stem = lemma[:-4]
    if not lemma.endswith("less") or len(stem) < 3:
        return None
    verbs = state.lexicon.candidates(stem, "v")
    return (state.lexicon.best_concept(stem, "v") or verbs[0]) if verbs else None


def known_concepts(state: RuleState, lemma: str, kind: str) -> dict[str, int]:
    """What the word became in graphs, without what stands for more than the word."""
    known = state.lexicon.known(lemma, kind)
    return {concept: count for concept, count in known.items() if concept != DELETED}


def denies(word: str, concept: str) -> bool:
    """Whether the word is the concept's with a negative prefix or *-less*.

    >>> denies("unhappy", "happy-01"), denies("untie", "untie-01")
    (True, False)
    """
    stem = concept.rpartition("-")[0] if concept[-1].isdigit() else concept
    lacks = word.endswith("less") and not stem.endswith("less") and word[:4] == stem[:4]
    return lacks or any(word == f"{prefix}{stem}" for prefix in _PREFIXES)


def positive(state: RuleState, lemma: str) -> str | None:
    """The concept of an adjective without its *un-* or *im-*, where it has a frame; else ``None``."""
    lexicon = state.lexicon
    for prefix in _PREFIXES:
        stem = lemma[len(prefix) :]
        own = prefix != "un" and ("j", lemma) in lexicon.aliases
        if lemma.startswith(prefix) and len(stem) > 3 and not own:
            known = lexicon.best_concept(stem, "j")
            if known is not None and known != DELETED:
                return known
            frames = lexicon.candidates(stem, "j")
            if frames:
                return frames[0]
    return None


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
