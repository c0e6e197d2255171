"""Direct speech: quoted sentences are what somebody says, and *I* in them is who says it.

In: a `RuleState` whose clauses are linked. Out: *"Where are they?" he asked.* as one graph, with the
question as ``:ARG1`` of ``ask-01``; in *"I know you", she told him* one node for *she* and *I*, and one for
*him* and *you*.
"""

from __future__ import annotations

from graphneg.parsers.dependency.rules.state import SPEECH, RuleState, quoted_words
from graphneg.parsers.dependency.words import Word

ANSWERS = frozenset({"answer-01", "reply-01", "respond-01"})
"""Their ``ARG1`` is who or what is answered, their ``ARG2`` the answer."""
_QUOTE_TAGS = frozenset({"``", "''", '"'})


def join_speech(state: RuleState, roots: list[Word]) -> list[Word]:
    """Makes quoted sentences beside *he said* its ``ARG1``; gives the roots that remain.

    *"Where are they?" he asked.* and *He asked: "Where are they?"*
    """
    left: list[Word] = []
    for root in roots:
        if root.tag in _QUOTE_TAGS:
            continue
        before = left[-1] if left else None
        if before is not None and _reports_before(before, root):
            if _take(state, root, before):
                left[-1] = root
                continue
        elif before is not None and _reports_after(before, root) and _take(state, before, root):
            continue
        left.append(root)
    return left


def _reports(word: Word) -> bool:
    """Whether it is a verb of saying without what is said."""
    return word.lemma in SPEECH and word.tag[:2] == "VB" and word.child("ccomp", "dobj", "parataxis") is None


def _reports_before(quote: Word, said: Word) -> bool:
    """Whether ``said`` is the *he asked* behind a quotation."""
    if not _reports(said):
        return False
    opening, words = _first(said), said.tree
    if opening.tag in _QUOTE_TAGS and opening.following is not None:
        opening = opening.following
        return opening.text[:1].islower() or opening.tag in {"NNP", "PRP"}
    between = [word for word in words if quote.sentence < word.sentence < said.sentence]
    follows = quote.sentence < said.sentence and all(word.tag in _QUOTE_TAGS for word in between)
    return opening.text[:1].islower() and opening.i > 0 and follows


def _reports_after(said: Word, quote: Word) -> bool:
    """Whether a quotation follows *he asked:*."""
    first = _first(quote).i
    return _reports(said) and any(word.text == ":" for word in said.tree[max(0, first - 2) : first + 1])


def _first(root: Word) -> Word:
    """The first word of its sentence."""
    first = root
    while first.previous is not None and first.previous.sentence == root.sentence:
        first = first.previous
    return first


def _take(state: RuleState, said: Word, quote: Word) -> bool:
    head, dep = state.core_of(said), state.outer_of(quote)
    if head is None or dep is None:
        return False
    state.draft.link(head, "ARG2" if state.draft.nodes[head].concept in ANSWERS else "ARG1", dep, "speech")
    for node in state.draft.nodes:
        if node.sentence == quote.sentence:
            node.sentence = said.sentence
    return True


def merge_speakers(state: RuleState) -> None:
    """In *"I know you", she told him*, *I* is she and *you* is he."""
    spoken = quoted_words(state.words)
    says = (
        word
        for word in state.words
        if word.lemma in SPEECH and word.tag[:2] == "VB" and word.i in state.core and word.i not in spoken
    )
    verb = next(says, None) if spoken else None
    if verb is None:
        return
    nodes, roles = state.draft.nodes, state.draft.roles(state.core[verb.i])
    for pronoun, role in (("i", "ARG0"), ("you", "ARG2")):
        meant = roles.get(role)
        if meant is None or nodes[meant].gone or nodes[meant].concept in {None, "amr-unknown"}:
            continue
        if nodes[meant].concept == pronoun and nodes[meant].token in spoken:
            continue
        for k, node in enumerate(nodes):
            if k != meant and not node.gone and node.concept == pronoun and node.token in spoken:
                state.redirect(k, meant)
