"""Which concept an open-class word becomes: a PropBank frame with its sense, or its lemma."""

from __future__ import annotations

from graphneg.english.frames import FrameEntry
from graphneg.english.noun_kinds import is_frame
from graphneg.english.numbers import ordinal_value
from graphneg.english.words import readings
from graphneg.english.words import word_set_word_sets as word_set
from graphneg.parsers.dependency.draft import Word, signature
from graphneg.parsers.dependency.lexicon import DELETED
from graphneg.parsers.dependency.rules.sketch import AGENT_NOUNS, CLOTHES, RELATIVES, Sketch

# Which concept an open-class word becomes: a PropBank frame with its sense, or its lemma.


_PREFIXES = ("un", "im", "in", "ir", "il", "dis")
_AGENT = ("er", "or", "ist")
_EVENT = ("tion", "sion", "ment", "ance", "ence", "al", "ing", "ure")


def verb_concept(sketch: Sketch, word: Word) -> tuple[str, str, int | None]:
    """The verb's frame, the rule that chose it, and the last of its words (a particle's)."""
    lexicon = sketch.lexicon
    particle = sketch.kid(word.i, "prt")
    if particle is None:
        particle = next((one for one in sketch.kids(word.i, "advmod", "prep") if one.tag == "RP"), None)
    if particle is not None:
        joined = f"{word.lemma}_{particle.lower}"
        frames = lexicon.candidates(joined, "v")
        if frames:
            sketch.done.add(particle.i)
            last = particle.i if particle.i == word.i + 1 else None
            return best_sense(sketch, word, frames), "particle", last
    frames = [one for one in lexicon.candidates(word.lemma, "v") if "_" not in one]
    known = known_concepts(sketch, word.lemma, "v")
    if known:
        options = {**dict.fromkeys(frames[:12], 0), **known}
        return best_sense(sketch, word, list(options)), "table", None
    if frames:
        return best_sense(sketch, word, frames), "frame", None
    return f"{word.lemma}-01", "unknown", None


def best_sense(sketch: Sketch, word: Word, frames: list[str]) -> str:
    """The sense that fits the arguments found, what was seen in graphs, and PropBank's order."""
    lexicon = sketch.lexicon
    if len(frames) == 1:
        return frames[0]
    if word.lower == "used" and sketch.kid(word.i, "xcomp") and not sketch.kid(word.i, "dobj"):
        return "use-02"
    if word.lemma in {"like", "love"}:
        wished = any(one.lower in {"would", "should", "'d"} for one in sketch.kids(word.i, "aux"))
        return f"{word.lemma}-02" if wished else f"{word.lemma}-01"
    if word.lemma == "look" and "look-02" in frames and sketch.kid(word.i, "acomp", "oprd") is not None:
        return "look-02"
    if (
        word.lemma == "make"
        and "make-02" in frames
        and sketch.kid(word.i, "ccomp", "xcomp", "oprd") is not None
    ):
        return "make-02"
    known = lexicon.concepts.get((word.lemma, "v"), {})
    total = sum(known.values())
    forms = _forms(sketch, word)
    best, best_score = frames[0], -1.0
    for rank, frame in enumerate(frames):
        entry = lexicon.frames.get(frame)
        prior = (known.get(frame, 0) + 2 * _prior(rank, 0 if entry is None else entry.examples)) / (total + 2)
        score = prior * _room(entry, forms)
        for form in forms:
            score *= _fit(sketch, frame, form)
        if score > best_score:
            best, best_score = frame, score
    return best


def _room(entry: FrameEntry | None, forms: list[str]) -> float:
    """Little for a frame with fewer roles than the verb has subject and object."""
    if entry is None or "dobj" not in forms or "nsubj" not in forms:
        return 1.0
    return 0.3 if len(entry.functions) < 2 or "0" not in entry.functions else 1.0


def _prior(rank: int, examples: int) -> float:
    return 0.5 / (1 + rank) + 0.02 * min(examples, 10)


def _forms(sketch: Sketch, word: Word) -> list[str]:
    forms: list[str] = []
    for k in word.kids:
        kid = sketch.words[k]
        target = k
        if kid.dep in {"prep", "dative"} and kid.tag in {"IN", "TO"}:
            inner = sketch.kid(k, "pobj", "pcomp")
            target = inner.i if inner is not None else k
        form = signature(sketch.words, word.i, target)
        if form is not None and kid.dep not in {"punct", "aux", "cc", "conj", "neg", "mark", "auxpass"}:
            forms.append(form)
    return forms


def _fit(sketch: Sketch, frame: str, form: str) -> float:
    """How much more often the frame takes the form than not: between 0.5 and 2.5."""
    entry = sketch.lexicon.frames.get(frame)
    graphs = sketch.lexicon.roles.get(("F", frame, form), {})
    seen = sum(count for role, count in (entry.seen.get(form, {}) if entry else {}).items() if role != "M")
    examples = entry.examples if entry else 0
    trained = sketch.lexicon.totals.get(frame, 0)
    rate = (seen + 0.5 * sum(graphs.values()) + 0.15) / (examples + 0.5 * trained + 1.0)
    return 0.3 + min(rate, 1.0)


def adjective_concept(sketch: Sketch, word: Word) -> tuple[str, str]:
    """The adjective's frame where it was seen as one or comes from a verb, else its lemma."""
    lexicon = sketch.lexicon
    if word.lower in {"much", "many", "little", "few"}:
        return word.lower, "table"
    known = known_concepts(sketch, word.lemma, "j")
    if known:
        best = max(known, key=lambda one: known[one])
        return best, "negative" if denies(word.lemma, best) else "table"
    base = positive(sketch, word.lemma)
    if base is not None:
        return base, "negative"
    verb = without(sketch, word.lemma)
    if verb is not None:
        return verb, "negative"
    frames = lexicon.candidates(word.lemma, "j")
    verbal = [one for one in frames if lexicon.frames[one].verbal]
    if verbal:
        return verbal[0], "frame"
    if frames:
        return frames[0], "frame"
    if word.lemma.endswith(("ed", "ing")):
        from graphneg.english.lemmas import lemma_of

        verb = lemma_of(word.lower, "VBN" if word.lemma.endswith("ed") else "VBG")
        found = lexicon.candidates(verb, "v")
        if found and verb != word.lower:
            return found[0], "participle"
    return word.lemma, "word"


def without(sketch: Sketch, lemma: str) -> str | None:
    """The verb's frame that an adjective in *-less* denies: *fearless*."""
    stem = lemma[:-4]
    if not lemma.endswith("less") or len(stem) < 3:
        return None
    verbs = sketch.lexicon.candidates(stem, "v")
    return (sketch.lexicon.best_concept(stem, "v") or verbs[0]) if verbs else None


def lacked(word: str) -> str | None:
    """What somebody *shirtless* has none of: a thing to wear."""
    stem = word[:-4]
    return stem if word.endswith("less") and stem in CLOTHES else None


def known_concepts(sketch: Sketch, lemma: str, kind: str) -> dict[str, int]:
    """What the word became in graphs, without what stands for more than the word."""
    known = sketch.lexicon.known(lemma, kind)
    return {concept: count for concept, count in known.items() if concept != DELETED}


def denies(word: str, concept: str) -> bool:
    """Whether the word is the concept's with a negative prefix.

    >>> denies("unhappy", "happy-01"), denies("untie", "untie-01")
    (True, False)
    """
    stem = concept.rpartition("-")[0] if concept[-1].isdigit() else concept
    lacks = word.endswith("less") and not stem.endswith("less") and word[:4] == stem[:4]
    return lacks or any(word == f"{prefix}{stem}" for prefix in _PREFIXES)


def positive(sketch: Sketch, lemma: str) -> str | None:
    """The concept of an adjective without its *un-* or *im-*, where it has a frame; else ``None``."""
    lexicon = sketch.lexicon
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


def noun_concept(sketch: Sketch, word: Word) -> None:
    """Writes the noun's nodes: its lemma, a frame, ``person :ARG0-of`` a frame, a kinship role."""
    lexicon = sketch.lexicon
    lemma = word.lemma
    if lemma in RELATIVES and (lemma == "friend" or _is_relation(sketch, word)):
        _write_relation(sketch, word)
        return
    known = known_concepts(sketch, lemma, "n")
    if known:
        best = max(known, key=lambda one: known[one])
        tail = next((lemma[k:] for k in range(len(lemma)) if _does(lemma[k:], best)), None)
        if tail is not None and (tail == lemma or "NOUN" in readings(lemma.removesuffix(tail))):
            _write_doer(sketch, word, sketch.add("person", word.i, "agent"), best)
            if tail != lemma:
                done = sketch.draft.concept(lemma.removesuffix(tail), word.i, "agent")
                sketch.link(sketch.core[word.i], "ARG1", done, "agent")
        elif best in {"person", "thing"} and word.lemma != best:
            _write_agent(sketch, word, best)
        else:
            sketch.add(best, word.i, "table")
        return
    if lemma in AGENT_NOUNS:
        _write_agent(sketch, word, "person")
        return
    frames = [one for one in lexicon.candidates(lemma, "n") if lexicon.frames[one].verbal]
    if frames and lemma.endswith(_EVENT):
        sketch.add(frames[0], word.i, "nominal")
        return
    sketch.add(lemma, word.i, "word")


def _write_agent(sketch: Sketch, word: Word, concept: str) -> None:
    """*painter*: ``(person :ARG0-of paint-01)`` where the verb has a frame."""
    node = sketch.add(concept, word.i, "agent")
    if not word.lemma.endswith(_AGENT) or concept != "person":
        return
    for stem in (word.lemma[:-2], word.lemma[:-1], word.lemma[:-3]):
        frames = sketch.lexicon.candidates(stem, "v")
        if frames:
            _write_doer(sketch, word, node, frames[0])
            return


def _does(noun: str, concept: str) -> bool:
    """Whether the noun is who does what the frame says.

    >>> _does("player", "play-01"), _does("order", "order-01"), _does("swimmer", "swim-01")
    (True, False, True)
    """
    verb = concept.rpartition("-")[0]
    return noun.endswith(("er", "or")) and is_frame(concept) and verb != noun and noun.startswith(verb[:-1])


def _write_doer(sketch: Sketch, word: Word, person: int, frame: str) -> None:
    inner = sketch.draft.concept(frame, word.i, "agent")
    sketch.link(inner, "ARG0", person, "agent")
    sketch.core[word.i] = inner
    sketch.persons[word.i] = person


def _is_relation(sketch: Sketch, word: Word) -> bool:
    """Whether it is somebody's: *my friend*, *a friend of mine*."""
    if sketch.kid(word.i, "poss") is not None:
        return True
    return any(one.lower == "of" for one in sketch.kids(word.i, "prep"))


def _write_relation(sketch: Sketch, word: Word) -> None:
    person = sketch.add("person", word.i, "relation")
    role = sketch.draft.concept("have-rel-role-91", word.i, "relation")
    kind = sketch.draft.concept(RELATIVES[word.lemma], word.i, "relation")
    sketch.link(role, "ARG0", person, "relation")
    sketch.link(role, "ARG2", kind, "relation")


def is_ordinal(word: Word) -> bool:
    """Whether the adjective is an ordinal number."""
    return word.tag[:2] in {"JJ", "RB"} and ordinal_value(word.lower) is not None


# Light verbs: in *take a look* the noun's frame speaks for the verb (AMR guidelines 1.2.6).


_NOUNS = {
    "make": word_set("""
        reply comment decision mistake call choice effort speech discovery suggestion contribution
        recommendation promise attempt progress complaint arrangement journey visit offer apology
        appointment reservation payment joke tour jump error gesture sketch calculation turn note
        answer drawing acquaintance announcement statement request remark proposal objection
        sacrifice prediction demand purchase escape attack landing investment comparison change
        improvement
    """),
    "take": word_set("""
        look walk rest break bath nap shower trip vacation ride drive swim photo picture guess jump
        swing flight turn dive sip bite step stroll leap glance journey
    """),
    "give": word_set("""
        call hug kiss smile answer speech reply advice demonstration suggestion order glance kick
        push pull shout cry laugh sigh command permission lecture presentation performance
        description explanation nod wave help support promise warning
    """),
    "have": word_set("""
        look talk chat rest discussion argument walk conversation fight swim dance nap need wish
        desire sleep lunch dinner breakfast fun vacation resemblance effect influence fear hope
        belief doubt respect intention encounter meeting laugh
    """),
    "do": word_set("""
        work damage harm exercise trick wheelie jump flip stunt manicure dance research cooking
        cleaning backbend cartwheel somersault handstand
    """),
}


def resolve_light_verbs(sketch: Sketch) -> None:
    """Lets the object speak for its light verb where the object has a frame of a verb's."""
    lexicon = sketch.lexicon
    for word in sketch.words:
        nouns = _NOUNS.get(word.lemma) if word.tag[:2] == "VB" else None
        noun = sketch.kid(word.i, "dobj") if nouns is not None else None
        if nouns is None or noun is None or noun.lemma not in nouns or noun.i in sketch.done:
            continue
        known = lexicon.concepts.get((noun.lemma, "n"), {})
        frames = [one for one in lexicon.candidates(noun.lemma, "n") if lexicon.frames[one].verbal]
        frames = frames or lexicon.candidates(noun.lemma, "v")
        if frames:
            best = max(frames, key=lambda one: known.get(one, 0))
            sketch.add(best, noun.i, "light-verb")
            sketch.stand_in[word.i] = noun.i
