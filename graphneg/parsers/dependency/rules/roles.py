"""Which role a dependent takes, and which word governs which."""

from __future__ import annotations

from typing import NamedTuple

from graphneg.english.noun_kinds import is_frame
from graphneg.parsers.dependency.draft import Word, clause_form, word_class
from graphneg.parsers.dependency.rules.coordination import ANSWERS, SPEECH
from graphneg.parsers.dependency.rules.sketch import (
    ADDRESSES,
    AMOUNTS,
    BODY_PARTS,
    KINDS,
    PARTS,
    PREPOSITION_ROLES,
    TIME_NOUNS,
    VESSELS,
    Sketch,
)

# Which word governs which, once prepositions, copulas and silent words are looked through.


_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass"})
_OUTER = frozenset({"because", "instead", "due", "out", "such", "despite"})
_PREPOSITIONS = frozenset({"prep", "agent", "dative", "pcomp"})


class Dependency(NamedTuple):
    """``dependent`` hangs on ``governor`` as ``form``; ``through`` is the word whose relation it is.

    ``through`` differs from ``dependent`` where that speaks for a copula. ``preposition`` is the
    silent preposition between them, if there is one.
    """

    governor: int
    dependent: int
    through: Word
    form: str
    preposition: Word | None


def dependency(sketch: Sketch, dependent: int) -> Dependency | None:
    """The dependency of a word that has a node; ``None`` where it depends on no other such word."""
    words = sketch.words
    if dependent in sketch.placed:
        return None
    through = _represented(sketch, words[dependent])
    preposition: Word | None = None
    copular = False
    head = through
    for _ in range(len(words)):
        if head.head == head.i:
            return None
        below, head = head, words[head.head]
        speaker = sketch.speaker(head.i)
        if speaker != head.i and head.lemma == "be":
            copular = True
        if speaker in sketch.core and speaker != dependent:
            form = _form(sketch, through, preposition, below, copular)
            return Dependency(speaker, dependent, through, form, preposition)
        if (
            head.dep in _PREPOSITIONS
            and head.tag in {"IN", "TO", "RP"}
            and (preposition is None or head.lower in _OUTER)
        ):
            preposition = head
    return None


def _represented(sketch: Sketch, word: Word) -> Word:
    """The topmost copula that the word speaks for, or the word itself."""
    for _ in range(10):
        head = sketch.words[word.head]
        if head.i == word.i or sketch.stand_in.get(head.i) != word.i:
            if word.dep in {"pobj", "pcomp"} and sketch.stand_in.get(head.head) == word.i:
                word = sketch.words[head.head]
                continue
            return word
        word = head
    return word


def _form(sketch: Sketch, through: Word, preposition: Word | None, below: Word, copular: bool) -> str:
    if through.i in sketch.forms:
        return sketch.forms[through.i]
    if preposition is not None:
        return "agent" if preposition.dep == "agent" else f"prep_{preposition.lower}"
    copular = copular or sketch.words[through.head].tag[:2] == "JJ"
    if copular and through.dep in _SUBJECTS and through.i == below.i:
        return "cop_subj"
    if through.i != below.i:
        return below.dep if below.dep not in {"punct", "ROOT"} else through.dep
    return clause_form(sketch.words, through)


# Which role a dependent takes: the heaviest by the tables that its governor can take and has free.


WH_ROLES = {"where": "location", "when": "time", "how": "manner", "why": "purpose"}
_DEFAULTS = {
    "nsubj": "ARG0", "nsubjpass": "ARG1", "csubj": "ARG0", "dobj": "ARG1", "dative": "ARG2", "agent": "ARG0",
    "acomp": "ARG1", "attr": "ARG1", "oprd": "ARG2", "poss": "poss", "amod": "mod", "compound": "mod",
    "nummod": "quant", "det": "mod", "predet": "mod", "advmod": "mod", "npadvmod": "time", "prt": "direction",
    "intj": "mod", "cop_subj": "domain", "pobj": "op1", "pcomp": "op1", "quantmod": "mod", "neg": "time",
    "appos": "mod", "nmod": "mod", "prep": "location",
}  # fmt: skip
_FREE = frozenset({"intj", "det", "predet", "neg", "meta", "dep", "punct", "quantmod", "nummod", "appos"})
_ASKED = {"how-long": "duration", "how-often": "frequency", "how-far": "extent"}
_TEMPORAL = frozenset({"npadvmod", "prep_in", "prep_on", "prep_at", "prep_during"})
_PLACING = frozenset({"be-located-at-91", "be-from-91"})
_CONSTANT = frozenset({"polarity", "mode", "wiki", "name", "value", "unit", "ord", "op2", "op3"})
_LOOSE = frozenset(
    {"npadvmod", "dep", "intj", "appos", "advmod", "nmod", "oprd", "attr", "dobj", "conj", "pobj"}
)
_SPANS = frozenset(
    {"temporal-quantity", "year", "month", "week", "day", "hour", "minute", "while", "moment", "time"}
)
CORE_ROLES = frozenset(f"ARG{n}" for n in range(7))


def role_weights(sketch: Sketch, concept: str, found: Dependency) -> dict[str, float]:
    kid = sketch.words[found.dependent]
    kind = word_class(sketch.words[found.governor])
    concept = sketch.draft.nodes[sketch.head(found.governor, found.form)].concept or ""
    if kid.tag == "WRB" and found.form == "advmod" and concept in _PLACING:
        return {"ARG2": 1.0}
    if kid.lemma in {"left", "right"} and found.form == "advmod" and kind == "v":
        return {"direction": 1.0}
    if found.form == "prep_from" and concept == "be-from-91":
        return {"ARG2": 1.0}
    if kid.tag == "WRB" and found.form == "advmod":
        adjective = sketch.words[found.governor].tag[:2] in {"JJ", "RB"}
        return {"degree" if adjective else WH_ROLES.get(kid.lower, "manner"): 1.0}
    if found.form in {"det", "advmod"} and kid.tag in {"WDT", "WP", "WP$"}:
        return {"mod": 1.0}
    if found.form in {"cop_subj", "csubj"} and not is_frame(concept):
        return {"domain": 1.0}
    if is_vocative(sketch, found):
        return {"vocative": 1.0}
    if found.form == "how-many" and is_frame(concept):
        return {"ARG2": 0.6, "degree": 0.4} if concept == "cost-01" else {"degree": 1.0}
    if found.form in _ASKED:
        return {_ASKED[found.form]: 1.0}
    if found.form == "value":
        return {"quant": 1.0}
    if found.form == "age":
        return {"ARG2": 1.0}
    if concept == "age-01" and found.form in {"cop_subj", "nsubj"}:
        return {"ARG1": 1.0}
    if found.form == "rate":
        return {"frequency": 1.0}
    if found.form == "pobj" and found.dependent in sketch.forms:
        return {"op1": 1.0}
    if sketch.draft.nodes[sketch.core[kid.i]].rule == "one-day":
        return {"mod": 1.0}
    if found.form == "nummod" and kid.i > found.governor and sketch.words[found.governor].tag[:2] == "NN":
        return {"mod": 1.0}
    if found.form in {"nummod", "how-many"}:
        return {"quant": 1.0}
    scores = sketch.lexicon.role_scores(concept, kind, found.form, kid.lemma)
    if concept.endswith("-91") and found.form in {"cop_subj", "nsubj"}:
        return {"ARG1": 1.0}
    if (
        concept in {"near-02", "resemble-01"}
        and sketch.draft.nodes[sketch.core[found.governor]].rule == "copula"
    ):
        return {"ARG1" if found.form in {"cop_subj", "nsubj"} else "ARG2": 1.0}
    if concept in ANSWERS and (found.form.startswith("ccomp") or found.form == "dobj"):
        return {"ARG1" if found.form == "dobj" else "ARG2": 1.0}
    if found.form == "intj" and kid.tag == "UH" and sketch.words[found.governor].lemma in SPEECH:
        return {"mod" if sketch.kid(found.governor, "ccomp") else "ARG1": 1.0}
    if concept == "be-located-at-91" and (found.form.startswith("prep_") or found.form in {"acomp", "attr"}):
        scores["ARG2"] = scores.get("ARG2", 0.0) + 1.0
    if found.form == "poss" and sketch.words[found.governor].lemma in BODY_PARTS:
        return {"part-of": 1.0}
    if found.form in {"nsubj", "dobj"} and _is_transitive(sketch, found.governor, concept):
        return {"ARG0" if found.form == "nsubj" else "ARG1": 1.0}
    if found.form in {"nsubj", "dobj"} and is_frame(concept):
        scores = _fitting(sketch, concept, found.form, scores)
    if found.form == "dobj" and sketch.kid(found.governor, "dative") is not None:
        scores["ARG1"] = 5 * scores.get("ARG1", 0.1)
    if found.form in _FREE:
        scores = {role: weight for role, weight in scores.items() if role not in CORE_ROLES} or {"mod": 1.0}
    if found.form == "prep_of":
        whole = _whole(sketch, found, concept)
        if whole is not None:
            return {whole: 1.0}
    if found.form == "prep_of" and ("F", concept, "prep_of") not in sketch.lexicon.roles:
        scores.pop("consist-of", None)
    if found.form == "prep_for" and sketch.draft.nodes[sketch.core[kid.i]].concept in _SPANS:
        return {"duration": 1.0}
    if found.form in _TEMPORAL and sketch.concept_of(kid.i) == "date-entity":
        return {"time": 1.0}
    if sketch.concept_of(kid.i) == "date-interval":
        return {"time": 1.0}
    if found.form in _TEMPORAL:
        timely = kid.lemma in TIME_NOUNS or sketch.concept_of(kid.i) in {"date-entity", "then"}
        scores["time"] = scores.get("time", 0.0) + 0.4 if timely else scores.get("time", 0.0) * 0.2
    if found.form == "advmod" and sketch.draft.nodes[sketch.core[kid.i]].rule == "adverb":
        scores["manner"] = scores.get("manner", 0.0) + 0.4
    return scores


def _whole(sketch: Sketch, found: Dependency, concept: str) -> str | None:
    """What a noun is of another, where it says so: *the top of*, *a cup of*, *a bit of*, *a kind of*."""
    noun = sketch.words[found.governor].lemma
    if noun in PARTS or noun in BODY_PARTS:
        return "part-of"
    if noun in KINDS:
        return "mod-of"
    if noun in AMOUNTS:
        return "quant-of"
    if noun in VESSELS and not is_frame(concept):
        return "consist-of"
    inner = sketch.draft.nodes[sketch.core[found.dependent]].concept or ""
    entry = sketch.lexicon.frames.get(inner)
    quality = entry is not None and min(entry.functions, default="") == "1" and not is_frame(concept)
    return "ARG1-of" if quality and sketch.draft.nodes[sketch.core[found.dependent]].rule == "table" else None


def _is_transitive(sketch: Sketch, verb: int, concept: str) -> bool:
    """Whether a verb has a subject and one object, and its frame an agent and what it acts on."""
    entry = sketch.lexicon.frames.get(concept)
    objects = sketch.kids(verb, "dobj")
    if entry is None or not {"0", "1"} <= set(entry.functions) or len(objects) != 1:
        return False
    plain = (
        sketch.kid(verb, "nsubj") is not None and sketch.kid(verb, "dative", "ccomp", "xcomp", "oprd") is None
    )
    seen = sketch.lexicon.roles.get(("F", concept, "dobj"), {})
    usual = seen.get("ARG1", 0) >= sum(seen.values()) / 2
    return plain and usual and objects[0].lemma not in TIME_NOUNS and objects[0].tag != "PRP"


def _fitting(sketch: Sketch, concept: str, form: str, scores: dict[str, float]) -> dict[str, float]:
    """The weights without roles that subjects and objects do not take."""
    entry = sketch.lexicon.frames.get(concept)
    shown = entry.seen.get(form, {}) if entry is not None else {}
    seen = {*sketch.lexicon.roles.get(("F", concept, form), {}), *(f"ARG{role}" for role in shown)}
    if form == "nsubj":
        return {role: weight for role, weight in scores.items() if role in {"ARG0", "ARG1"} or role in seen}
    return {
        role: weight
        for role, weight in scores.items()
        if role == "ARG1" or role in seen or role not in {"ARG0", "ARG2", "duration"}
    }


def is_vocative(sketch: Sketch, found: Dependency) -> bool:
    """*…, sir?*, *Tom, …*: somebody who is spoken to, between commas."""
    word = sketch.words[found.dependent]
    name = sketch.concept_of(word.i) == "person" and word.tag[:3] == "NNP"
    if not (name or word.lower in ADDRESSES) or found.form not in _LOOSE:
        return False
    words = sketch.words
    behind = word.i + 1 >= len(words) or words[word.i + 1].tag in {",", ".", "''"}
    first = min((word.i, *word.kids), default=word.i)
    before = first == 0 or words[first - 1].tag in {",", ".", "``", ":"}
    return behind and before


def best_role(sketch: Sketch, concept: str, scores: dict[str, float], used: set[str]) -> str | None:
    """The heaviest role that the concept can take and that is still free."""
    best, weight = None, 0.0
    for role, score in scores.items():
        if score > weight and _allowed(sketch, concept, role) and role not in used:
            best, weight = role, score
    return best


def _allowed(sketch: Sketch, concept: str, role: str) -> bool:
    if role in _CONSTANT:
        return False
    if role.startswith(("snt", "op")) and not (role == "op1" and not is_frame(concept)):
        return False
    if role not in CORE_ROLES:
        return not (is_frame(concept) and role in {"domain", "consist-of", "poss", "quant", "name", "unit"})
    if not is_frame(concept):
        return False
    entry = sketch.lexicon.frames.get(concept)
    return entry is None or role[3:] in entry.functions or ("F", concept) in sketch.lexicon.roles


def lowest_role(sketch: Sketch, concept: str, otherwise: str) -> str:
    entry = sketch.lexicon.frames.get(concept)
    if entry is None or not entry.functions or otherwise[3:] in entry.functions:
        return otherwise
    return f"ARG{min(entry.functions)}"


def default_role(sketch: Sketch, concept: str, found: Dependency, used: set[str]) -> str:
    form = found.form
    if found.preposition is not None:
        role = PREPOSITION_ROLES.get(found.preposition.lower, "mod")
        return role if role != "prep-as" else "mod"
    role = "ARG1" if form.startswith(("ccomp", "xcomp")) else _DEFAULTS.get(form, "mod")
    if role in CORE_ROLES:
        if not is_frame(concept):
            return "mod"
        role = lowest_role(sketch, concept, role)
        if role in used:
            entry = sketch.lexicon.frames.get(concept)
            free = [f"ARG{n}" for n in sorted(entry.functions)] if entry else ["ARG1", "ARG2"]
            role = next((one for one in free if one not in used), "mod")
    return role


def used_roles(sketch: Sketch, head: int) -> set[str]:
    return {arc.role for arc in sketch.draft.arcs if arc.head == head and arc.role in CORE_ROLES}


def subject_role(sketch: Sketch, verb: int, form: str, lemma: str) -> str | None:
    """The role of a subject that another clause lends, ``None`` where none is free."""
    node = sketch.core[verb]
    concept = sketch.draft.nodes[node].concept or ""
    if not is_frame(concept):
        return None
    scores = sketch.lexicon.role_scores(concept, word_class(sketch.words[verb]), form, lemma)
    used = used_roles(sketch, node)
    role = best_role(sketch, concept, {k: v for k, v in scores.items() if k in CORE_ROLES}, set())
    role = role or lowest_role(sketch, concept, "ARG0" if form == "nsubj" else "ARG1")
    return None if role in used else role


def default_form(form: str) -> str:
    """The role of a relation that no table knows."""
    return _DEFAULTS.get(form, "ARG1")
