"""What stands over or beside a clause: modals, moods, questions, negation."""

from __future__ import annotations

from graphneg.parsers.dependency.draft import Word
from graphneg.parsers.dependency.rules.coordination import SPEECH
from graphneg.parsers.dependency.rules.sketch import INNER_NEGATION, MODALS, Sketch
from graphneg.parsers.dependency.rules.trees import opens_question

# What stands over or beside a clause: modals, moods, questions.


_SPEECH_MARKS = frozenset({":", '"', "``", "\u201c"})
_SUBJECTS = ("nsubj", "nsubjpass", "csubj", "expl")


def write_modals(sketch: Sketch) -> None:
    """``possible-01``, ``obligate-01``, ``recommend-01`` over the verb of a modal."""
    for word in sketch.words:
        if word.tag == "MD" and word.dep == "aux" and word.lemma in MODALS:
            speaker = sketch.speaker(word.head)
            if speaker in sketch.outer and not _would_rather(sketch, word):
                concept, role = MODALS[word.lemma]
                sketch.above(concept, word.i, speaker, role, "modal")
        elif word.lemma == "have" and word.i in sketch.core:
            _write_have_to(sketch, word)
        elif word.lower in {"maybe", "perhaps"} and word.i in sketch.core:
            _write_maybe(sketch, word)
        elif word.lower == "better" and word.dep == "advmod" and word.i in sketch.core:
            _write_better(sketch, word)
        elif word.lower == "able" and word.i in sketch.core:
            _write_able(sketch, word)


def _would_rather(sketch: Sketch, word: Word) -> bool:
    """*I should have liked*, *I should like*: no duty."""
    head = sketch.words[word.head]
    return word.lower == "should" and head.lemma in {"like", "love", "prefer", "say", "think"}


def _write_have_to(sketch: Sketch, word: Word) -> None:
    inner = sketch.kid(word.i, "xcomp")
    if inner is None or not any(one.tag == "TO" for one in sketch.kids(inner.i, "aux")):
        return
    if sketch.kid(word.i, "dobj") is not None or sketch.speaker(inner.i) not in sketch.core:
        return
    node = sketch.core[word.i]
    sketch.draft.nodes[node].concept = "obligate-01"
    sketch.draft.nodes[node].rule = "modal"


def _write_maybe(sketch: Sketch, word: Word) -> None:
    """*Maybe he left*: ``possible-01`` over the clause."""
    speaker = sketch.speaker(word.head)
    if word.dep == "advmod" and speaker in sketch.outer and speaker != word.i:
        sketch.draft.drop(sketch.core.pop(word.i))
        sketch.outer.pop(word.i)
        sketch.above("possible-01", word.i, speaker, "ARG1", "modal")


def _write_better(sketch: Sketch, word: Word) -> None:
    """*You'd better stay*: ``recommend-01``."""
    speaker = sketch.speaker(word.head)
    had = any(one.lower in {"'d", "had"} and one.i < word.i for one in sketch.kids(word.head, "aux"))
    if had and word.i < word.head and speaker in sketch.outer:
        sketch.draft.drop(sketch.core.pop(word.i))
        sketch.outer.pop(word.i)
        sketch.above("recommend-01", word.i, speaker, "ARG1", "modal")


def _write_able(sketch: Sketch, word: Word) -> None:
    inner = sketch.kid(word.i, "xcomp")
    if inner is not None and sketch.speaker(inner.i) in sketch.core:
        node = sketch.core[word.i]
        sketch.draft.nodes[node].concept = "possible-01"
        sketch.draft.nodes[node].rule = "able"


def write_moods(sketch: Sketch, root: Word) -> None:
    """``:mode imperative`` with ``you``, ``:polarity (a / amr-unknown)`` for yes/no questions."""
    speaker = sketch.speaker(root.i)
    if speaker not in sketch.core:
        return
    _write_thanks(sketch, root)
    below = [one for one in sketch.kids(root.i, "ccomp", "conj", "parataxis") if one.tag == "VB"]
    for word in (root, *(one for one in below if one.dep != "conj" or _is_imperative(sketch, root))):
        core = sketch.core.get(sketch.speaker(word.i))
        if core is not None and _is_imperative(sketch, word):
            sketch.draft.tie(sketch.mark(core, "mode", "imperative", None, "imperative"), word.i)
            own = word.i not in sketch.stand_in
            if own and not any(arc.head == core and arc.role == "ARG0" for arc in sketch.draft.arcs):
                you = sketch.draft.concept("you", None, "imperative", word.sentence)
                sketch.draft.tie(you, word.i)
                sketch.link(core, "ARG0", you, "imperative")
    please = next((one for one in sketch.words if _is_please(one, root)), None)
    if please is not None:
        sketch.mark(sketch.core[speaker], "polite", "+", please.i, "please")
    _write_question(sketch, root, speaker)


def _is_please(word: Word, root: Word) -> bool:
    return word.lower == "please" and word.sentence == root.sentence and word.i != root.i and not word.kids


def _write_question(sketch: Sketch, root: Word, speaker: int) -> None:
    """A question that expects agreement asks for it; another asks for the polarity."""
    tagged = any(word.dep == "tag" and word.sentence == root.sentence for word in sketch.words)
    if not tagged and not _asks(sketch, root):
        return
    if tagged or _drop_negation(sketch, sketch.core[speaker]):
        node = sketch.draft.concept("request-confirmation-91", None, "question", root.sentence)
        sketch.link(node, "ARG1", sketch.outer[speaker], "question")
        return
    if root.lemma in SPEECH and root.tag[:2] == "VB" and not sketch.kids(root.i, "aux"):
        quote = sketch.kid(root.i, "ccomp")
        if quote is None or sketch.speaker(quote.i) not in sketch.core:
            return
        speaker = sketch.speaker(quote.i)
    unknown = sketch.draft.concept("amr-unknown", None, "question", root.sentence)
    outer = sketch.outer[speaker]
    asked = outer if sketch.draft.nodes[outer].rule == "modal" else sketch.core[speaker]
    sketch.link(asked, "polarity", unknown, "question")
    _tie_to_mark(sketch, unknown, root)


def _tie_to_mark(sketch: Sketch, node: int, root: Word) -> None:
    for word in sketch.words:
        if word.sentence == root.sentence and word.text.startswith("?"):
            sketch.draft.tie(node, word.i)


def _write_thanks(sketch: Sketch, root: Word) -> None:
    """*Thank you*, *Thanks*: I thank you."""
    node = sketch.core[sketch.speaker(root.i)]
    if root.lower not in {"thank", "thanks"} or sketch.draft.nodes[node].concept != "thank-01":
        return
    roles = {arc.role for arc in sketch.draft.arcs if arc.head == node}
    for role, concept in (("ARG0", "i"), ("ARG1", "you")):
        if role not in roles:
            sketch.link(
                node, role, sketch.draft.concept(concept, None, "imperative", root.sentence), "thanks"
            )


def _drop_negation(sketch: Sketch, node: int) -> bool:
    """*Don't you see?* asks for agreement: its negation goes; tells whether there was one."""
    for arc in sketch.draft.arcs:
        negation = sketch.draft.nodes[arc.dep].value == "-"
        if arc.head == node and arc.role == "polarity" and negation:
            sketch.draft.drop(arc.dep)
            return True
    return False


def _is_imperative(sketch: Sketch, word: Word) -> bool:
    if (
        word.tag not in {"VB", "VBP"}
        or word.lemma == "thank"
        or (word.lemma == "be" and (word.lower != "be" or word.dep != "ROOT"))
        or sketch.kid(word.i, *_SUBJECTS, "mark") is not None
    ):
        return False
    if any(one.tag in {"MD", "TO"} or one.lemma in {"have"} for one in sketch.kids(word.i, "aux")):
        return False
    return not (word.tag == "VBP" and word.dep != "ROOT")


def _asks(sketch: Sketch, root: Word) -> bool:
    """A question mark, or an auxiliary or *be* before the subject, and no question word."""
    words = sketch.words
    members = [word for word in words if word.sentence == root.sentence]
    if not any(word.text.startswith("?") for word in members[-3:]) and not opens_question(sketch, root):
        return False
    asking = [word for word in members if word.tag in {"WP", "WRB", "WDT", "WP$"}]
    return not any(_is_main(sketch, word, root) for word in asking)


def _is_main(sketch: Sketch, word: Word, root: Word) -> bool:
    """Whether a question word belongs to the main clause."""
    head = word
    for _ in range(len(sketch.words)):
        if head.dep in {"relcl", "acl", "advcl", "ccomp"} and head.i != root.i:
            if head.dep != "ccomp" or head.head != root.i:
                return False
            return word.i < root.i or any(one.text in _SPEECH_MARKS for one in sketch.words[root.i : word.i])
        if head.head == head.i:
            return True
        head = sketch.words[head.head]
    return True


# Question words: ``amr-unknown`` in place, ``thing`` for what is no question, nothing for relatives.


_PRONOUNS = frozenset({"what", "who", "whom", "which", "whose", "whatever", "whoever"})
_MEASURES = {"many": "how-many", "much": "how-many"} | {one: f"how-{one}" for one in ("long", "often", "far")}
_ADVERBS = frozenset({"where", "when", "why", "how"})
_CLAUSES = frozenset({"ROOT", "relcl", "acl", "advcl", "ccomp", "xcomp", "pcomp", "csubj", "parataxis"})


def write_question_words(sketch: Sketch) -> None:
    """Writes a node for each question word that stands for something."""
    for word in sketch.words:
        if word.tag in {"WP", "WDT", "WP$", "WRB"} and word.i not in sketch.done:
            _write(sketch, word)
            sketch.done.add(word.i)


def _write(sketch: Sketch, word: Word) -> None:
    clause = clause_of(sketch, word)
    direct = clause.dep in {"ROOT", "conj", "parataxis"} or _is_quoted(sketch, clause)
    asked = direct and _asked(sketch, clause)
    if word.lower in _PRONOUNS:
        _write_pronoun(sketch, word, clause, asked, direct)
    elif word.lower in _ADVERBS:
        _write_adverb(sketch, word, clause, asked, direct)


def _write_pronoun(sketch: Sketch, word: Word, clause: Word, asked: bool, direct: bool) -> None:
    if clause.dep in {"relcl", "acl"} and word.lower != "what":
        return
    if asked or (direct and word.lower == "what" and word.dep not in {"det", "predet"}):
        sketch.add("amr-unknown", word.i, "question")
    elif direct:
        return
    elif word.lower in {"what", "whatever"} and word.dep != "det":
        sketch.add("thing", word.i, "free-relative")
    elif word.lower in {"who", "whom", "whoever"}:
        sketch.add("person", word.i, "free-relative")


def _write_adverb(sketch: Sketch, word: Word, clause: Word, asked: bool, direct: bool) -> None:
    if asked:
        if word.lower == "why":
            return
        measured = sketch.words[word.head]
        if word.lower == "how" and measured.lower in _MEASURES and measured.dep != "acomp":
            sketch.add("amr-unknown", measured.i, "question")
            sketch.done.update((word.i, measured.i))
            if measured.dep not in {"dobj", "nsubj", "nsubjpass", "attr"}:
                sketch.forms[measured.i] = _MEASURES[measured.lower]
            return
        sketch.add("amr-unknown", word.i, "question")
    elif word.lower == "how" and not direct and sketch.words[word.head].lower in {"many", "much"}:
        _write_amount(sketch, word, sketch.words[word.head])
    elif word.lower == "how" and sketch.words[word.head].tag[:2] in {"JJ", "RB"} and direct:
        sketch.add("so", word.i, "exclamation")


def _write_amount(sketch: Sketch, how: Word, measured: Word) -> None:
    """*I know how many came*: what is known is an amount, and it is not large."""
    if measured.i in sketch.core or measured.i in sketch.done:
        return
    sketch.add("thing", measured.i, "free-relative")
    sketch.done.update((how.i, measured.i))
    if measured.dep not in {"dobj", "nsubj", "nsubjpass", "attr"}:
        sketch.forms[measured.i] = _MEASURES[measured.lower]


def write_whys(sketch: Sketch) -> None:
    """*Why …?*: ``cause-01 :ARG0 (a / amr-unknown)`` over the clause."""
    for word in sketch.words:
        if word.lower == "why" and word.i in sketch.done and word.i not in sketch.core:
            clause = clause_of(sketch, word)
            speaker = sketch.speaker(clause.i)
            if clause.i == word.i or (clause.lower == "not" and clause.head == clause.i):
                _write_bare_why(sketch, word)
                continue
            if clause.dep in {"relcl", "advcl"} or speaker not in sketch.core:
                continue
            node = sketch.above("cause-01", word.i, speaker, "ARG1", "why")
            concept = "amr-unknown" if _asked(sketch, clause) else "thing"
            cause = sketch.draft.concept(concept, word.i, "why")
            sketch.link(node, "ARG0", cause, "why")


def _write_bare_why(sketch: Sketch, word: Word) -> None:
    """*Why?*, *Why not?*"""
    node = sketch.add("cause-01", word.i, "why")
    sketch.link(node, "ARG0", sketch.draft.concept("amr-unknown", word.i, "why"), "why")
    following = sketch.words[word.i + 1 : word.i + 2]
    if following and following[0].lower == "not" and following[0].i not in sketch.core:
        sketch.mark(node, "polarity", "-", following[0].i, "negation")


def clause_of(sketch: Sketch, word: Word) -> Word:
    """The head of the clause that a question word asks about."""
    asking = word
    for _ in range(len(sketch.words)):
        fronted = word.dep in {"ccomp", "xcomp"} and asking.i < word.head
        if word.dep in _CLAUSES and not fronted:
            return word
        if word.tag[:2] == "VB" and word.dep in {"conj", "pobj"}:
            return word
        if word.head == word.i:
            return word
        word = sketch.words[word.head]
    return word


def _is_quoted(sketch: Sketch, clause: Word) -> bool:
    """A complement before its verb, or one of *say* and *ask* without a mark of its own: direct speech."""
    head = sketch.words[clause.head]
    return clause.dep == "ccomp" and (
        clause.i < head.i or head.lemma in {"say", "ask", "reply", "demand", "cry"}
    )


def _asked(sketch: Sketch, clause: Word) -> bool:
    """Whether a question mark follows in the sentence."""
    words = sketch.words
    for i in range(clause.i, len(words)):
        if words[i].sentence != clause.sentence:
            break
        if "?" in words[i].text:
            return True
    return False


# Negation: ``:polarity -`` at what a negative word denies.


_NOTS = frozenset({"not", "n't", "nt"})
_NONES = frozenset({"none", "neither"})
_MEASURES_NEGATION = frozenset({"very", "much", "many", "altogether", "entirely", "completely", "all"})
_DEGREES = frozenset({"so", "too", "as", "that", "quite", "really"})
_SUBJECTS_NEGATION = frozenset({"nsubj", "nsubjpass"})


def write_negation(sketch: Sketch) -> None:
    """``:polarity -`` for each negative word that is no concept of its own."""
    for word in sketch.words:
        if word.lemma in _NOTS and word.tag in {"RB", "CC", "DT"} and word.i not in sketch.core:
            _write_not(sketch, word)
        elif word.lower == "never" and word.i in sketch.core:
            target = _denied(sketch, word)
            if target is not None:
                sketch.mark(target, "polarity", "-", word.i, "never")
        elif word.lower == "no" and word.i not in sketch.core and word.i not in sketch.done:
            _write_no(sketch, word)
        elif word.lower in _NONES:
            _write_none(sketch, word)
        elif word.lower == "without":
            inner = sketch.kid(word.i, "pobj", "pcomp")
            if inner is not None and sketch.speaker(inner.i) in sketch.core:
                sketch.mark(sketch.core[sketch.speaker(inner.i)], "polarity", "-", word.i, "without")


def _write_not(sketch: Sketch, word: Word) -> None:
    """On the modal where that is what is denied, else on the predicate; *not only* denies nothing."""
    following = sketch.words[word.i + 1].lower if word.i + 1 < len(sketch.words) else ""
    if following in {"only", "merely"}:
        return
    measure = _measure(sketch, word)
    target = _denied(sketch, word) if measure is None else measure
    if target is not None:
        sketch.mark(target, "polarity", "-", word.i, "negation")
        _write_joined(sketch, word, target)


def _measure(sketch: Sketch, word: Word) -> int | None:
    """*not very good*, *not many people*: less than that, not its contrary."""
    place = word.i + 1
    following = sketch.words[place] if place < len(sketch.words) else word
    if following.lower not in _MEASURES_NEGATION or following.i not in sketch.core:
        return None
    over = sketch.words[following.head]
    beside = following.dep in {"advmod", "amod", "nummod"} and over.tag[:2] in {"JJ", "RB", "NN"}
    return sketch.core[following.i] if beside and over.i > following.i else None


def _denied(sketch: Sketch, word: Word) -> int | None:
    head = sketch.words[word.head]
    if head.lower in _DEGREES and head.dep == "advmod":
        head = sketch.words[head.head]
    subject = head.dep in _SUBJECTS_NEGATION and head.i > word.i and _counts(sketch, word)
    ought = sketch.kid(head.i, "xcomp") if head.lemma == "ought" else None
    if subject or ought is not None:
        head = sketch.words[head.head] if ought is None else ought
    speaker = sketch.speaker(head.i)
    if speaker == word.i:
        return None
    for modal in sketch.kids(head.i, "aux"):
        if modal.lemma in MODALS and modal.lemma not in INNER_NEGATION and speaker in sketch.outer:
            outer = sketch.outer[speaker]
            return (
                outer if sketch.draft.nodes[outer].concept == MODALS[modal.lemma][0] else sketch.core[speaker]
            )
    return sketch.persons.get(speaker, sketch.core.get(speaker))


def _counts(sketch: Sketch, word: Word) -> bool:
    """*not every*, *not even*: what is said of the subject is denied, not the subject."""
    following = sketch.words[word.i + 1].lower if word.i + 1 < len(sketch.words) else ""
    return following in {"every", "all", "even", "everyone", "everybody", "everything"}


def _write_joined(sketch: Sketch, word: Word, target: int) -> None:
    """*is not singing and playing* denies both, but no verb with a subject or auxiliary of its own."""
    verb = sketch.words[word.head]
    if target != sketch.core.get(verb.i):
        return
    for one in sketch.kids(verb.i, "conj"):
        own = sketch.kid(one.i, "nsubj", "nsubjpass", "expl", "aux", "auxpass", "neg")
        joined = any(cc.lower in {"and", "or"} for cc in sketch.kids(verb.i, "cc"))
        if joined and own is None and _same_form(one, verb) and one.i in sketch.core:
            sketch.mark(sketch.core[one.i], "polarity", "-", None, "negation")


def _same_form(one: Word, other: Word) -> bool:
    bare = {"VB", "VBP"}
    return one.tag[:2] == "VB" and (one.tag == other.tag or {one.tag, other.tag} == bare)


def _write_no(sketch: Sketch, word: Word) -> None:
    """*no* denies a comparison, the verb of a subject, *have* of its object, else the noun."""
    head = sketch.words[word.head]
    if head.tag in {"JJR", "RBR"} and word.i < head.i:
        while head.lower in {"more", "less"} and sketch.words[head.head].tag[:2] in {"JJ", "RB"}:
            head = sketch.words[head.head]
        target = sketch.core.get(sketch.speaker(head.i))
    elif word.tag == "DT" and word.dep in {"det", "neg"}:
        target = _denied_by_phrase(sketch, head)
    else:
        return
    if target is not None:
        sketch.mark(target, "polarity", "-", word.i, "no")
        if word.dep == "neg":
            _write_joined(sketch, word, target)


def _denied_by_phrase(sketch: Sketch, noun: Word) -> int | None:
    verb = sketch.words[noun.head]
    had = noun.dep == "dobj" and verb.lemma == "have"
    denies = (had or noun.dep in _SUBJECTS_NEGATION) and sketch.speaker(verb.i) in sketch.core
    return sketch.core.get(sketch.speaker(verb.i if denies else noun.i))


def _write_none(sketch: Sketch, word: Word) -> None:
    """*none of them came*, *neither he nor she came*: what they do is denied."""
    if word.dep in {"preconj", "det", "cc"} and word.lower == "neither":
        phrase = sketch.words[word.head]
        if phrase.tag[:2] not in {"NN", "PR"}:
            return
        target = _denied_by_phrase(sketch, phrase)
    elif word.i in sketch.stand_in:
        target = (
            sketch.core.get(sketch.speaker(word.head)) if word.dep in {*_SUBJECTS_NEGATION, "dobj"} else None
        )
    else:
        return
    if target is not None:
        sketch.mark(target, "polarity", "-", word.i, "none")
