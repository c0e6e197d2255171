"""What stands over or beside a clause: modals, moods, questions."""

from __future__ import annotations

from graphneg.parsers.dependency.rules.closed_classes import MODALS
from graphneg.parsers.dependency.rules.inversion import opens_question
from graphneg.parsers.dependency.rules.sketch import Sketch
from graphneg.parsers.dependency.rules.speech import SPEECH
from graphneg.parsers.dependency.words import Word

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
