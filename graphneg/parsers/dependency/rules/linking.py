"""Link clauses and mentions: coordination, shared subjects, direct speech and coreference.

- *eggs and ham* becomes ``(a / and :op1 (e / egg) :op2 (h / ham))``. Later rules link this ``and`` to other
  words, instead of its conjuncts.
- *But it rained* becomes ``(c / contrast-01 :ARG2 (r / rain-01))``. Likewise for *And*, *So* and *Because* at
  the start of a sentence.
- *She wants to go* becomes ``(w / want-01 :ARG0 (s / she) :ARG1 (g / go-02 :ARG0 s))``. The shared subject is
  a reentrancy.
- In *Tom hurt himself*, *Tom* and *himself* share a node. In *The boy lost his hat*, *boy* and *his* share a
  node.
- *"Where are they?" he asked.* becomes one graph, with the question as ``:ARG1`` of ``ask-01``.
- In *"I know you", she told him*, *she* and *I* share a node, and *him* and *you* share another node.
"""

from __future__ import annotations

from graphneg.parsers.dependency.draft import DraftArc, DraftNode
from graphneg.parsers.dependency.lexicon import word_class, word_map, word_pairs
from graphneg.parsers.dependency.rules.roles import subject_role
from graphneg.parsers.dependency.rules.state import SPEECH, SUBJECTS, RuleState, quoted_words
from graphneg.parsers.dependency.text import Word

_OPENERS = word_pairs("opener")
_BEFORE_OPENERS = frozenset({"``", "''", "CC", "UH", ",", ":", ".", "-LRB-", "NFP", "HYPH"})
"""Tags of words that may precede a sentence-initial conjunction."""
_REFERENCES = word_map("reference")
"""For each pronoun, the kind of noun that it may refer to: ``person``, ``thing`` or ``people``."""
_EXPLETIVE_VERBS = frozenset({"be", "seem", "rain", "snow", "take", "happen", "matter"})
"""Verbs with which the subject *it* usually has no referent."""
PERSONAL = frozenset({"i", "you", "he", "she", "it", "we", "they"})
"""Concepts of personal pronouns."""
ANSWERS = frozenset({"answer-01", "reply-01", "respond-01"})
"""Frames of answering. Their ``ARG1`` is the person or thing that is answered, and ``ARG2`` is the answer."""
_QUOTE_TAGS = frozenset({"``", "''", '"'})


def groups(state: RuleState) -> list[list[int]]:
    """Return the coordinations in a text, each as the list of its conjuncts.

    Args:
        state: The words of the text, and the graph under construction.

    Returns:
        For each coordination, the indices of its words in text order.
    """
    by_first: dict[int, list[int]] = {}
    for word in state.words:
        if word.dep == "conj":
            first = word
            # In "a, b and c", spaCy attaches c to b and b to a. Follow this chain to the first conjunct,
            # which identifies the coordination.
            while first.dep == "conj" and first.head != first.i:
                first = first.parent
            by_first.setdefault(first.i, [first.i]).append(word.i)
    return list(by_first.values())


def write_coordination(state: RuleState) -> dict[int, list[int]]:
    """Put a conjunction above the conjuncts of each coordination.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.

    Returns:
        The word indices of all conjuncts of each coordination, keyed by the index of the first conjunct. If a
        conjunct shares the node of another word, as *is* shares the node of *tall*, the other word is listed.
    """
    written: dict[int, list[int]] = {}
    for group in reversed(groups(state)):
        # A conjunction needs at least two conjuncts with different nodes. So ignore conjuncts without a node,
        # and count conjuncts that share a node only once.
        members = [i for i in dict.fromkeys(state.node_owner(i) for i in group) if i in state.top_nodes]
        if len(members) < 2:
            continue
        concept, anchor = _conjunction(state, group)
        node = state.draft.concept(concept, anchor, "coordination", state.words[members[0]].sentence)
        # "sit, wait" has no word for the conjunction, so align the node "and" with the comma.
        if anchor is None:
            between = reversed(state.words[group[0] + 1 : group[1]])
            mark = next((word.i for word in between if word.tag in {",", ":"}), None)
            state.draft.nodes[node].token = mark
        shared = _shared_modal(state, members)
        tops = [state.top_nodes[member] for member in members]
        # In "You should sit and wait", the modal is put above the conjunction, not above the first verb.
        if shared is not None:
            tops[0], shared.dep = shared.dep, node
        else:
            state.top_nodes[members[0]] = node
        for n, top in enumerate(tops, 1):
            # The conjuncts of "He left, but she stayed" become ARG1 and ARG2 of contrast-01. The conjuncts of
            # "and" and "or" become op1, op2, and so on.
            role = f"ARG{min(n, 2)}" if concept == "contrast-01" else f"op{n}"
            state.draft.link(node, role, top, "coordination")
        state.done.update(members[1:])
        written[members[0]] = members
    return written


def _shared_modal(state: RuleState, members: list[int]) -> DraftArc | None:
    """Return the arc from a modal to its verb if the modal concerns all conjuncts, else ``None``.

    In *You should sit and wait*, the arc leads from the node of *should* to ``sit-01``, and *should* also
    concerns *wait*.
    """
    outer, others = state.top_nodes[members[0]], [state.words[member] for member in members[1:]]
    own = any(word.child("nsubj", "nsubjpass", "aux", "expl") for word in others)
    # In "You should sit and I will wait", the second verb has its own subject, so the modal does not concern
    # it.
    bare = not own and all(word.tag in {"VB", "VBN"} for word in others)
    if state.draft.nodes[outer].rule != "modal" or outer == state.head_nodes[members[0]] or not bare:
        return None
    return next((arc for arc in state.draft.arcs if arc.head == outer and arc.rule == "modal"), None)


def _conjunction(state: RuleState, group: list[int]) -> tuple[str, int | None]:
    """Return the concept of a coordination, and the index of its conjunction (``None`` if it has none)."""
    conjunctions = [word for i in group for word in state.words[i].children("cc")]
    for word in conjunctions:
        concept = word_map("conjunction").get(word.lower)
        # contrast-01 has exactly two arguments, so "but" is ignored if there are more than two conjuncts.
        if concept is not None and not (concept == "contrast-01" and len(group) > 2):
            return concept, word.i
    if any(word.lower in {"either", "neither"} for word in conjunctions):
        return "or", conjunctions[0].i
    return "and", None


def write_openers(state: RuleState, root: Word) -> None:
    """Add the concept of a conjunction at the start of a sentence: a cause, a contrast or an addition.

    *So he left* becomes ``cause-01 :ARG1``. The separate sentence *Because he left* becomes ``cause-01
    :ARG0``. *But he left* becomes ``contrast-01 :ARG2``, and *And he left* becomes ``and :op2``. The other
    argument of these concepts is in an earlier sentence.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
        root: The root of the sentence.
    """
    owner = state.node_owner(root.i)
    if owner not in state.top_nodes:
        return
    for word in root.children("advmod", "mark", "cc"):
        after = word.following
        # "So" expresses a degree in "So nice of you!", but a cause in "So then he left".
        is_degree = word.lower == "so" and after is not None and after.tag[:2] in {"JJ", "RB"}
        if word.lower in {"so", "therefore", "thus"} and word.i < root.i and _is_sentence_initial(word):
            if not is_degree or (after is not None and after.lower == "then"):
                if word.i in state.head_nodes:
                    state.erase(word.i)
                state.add_above("cause-01", word.i, owner, "ARG1", "so")
        elif word.lower in {"because", "for"} and word.dep == "mark":
            state.add_above("cause-01", word.i, owner, "ARG0", "because")
    conjunctions = root.children("cc") + (state.words[owner].children("cc") if owner != root.i else [])
    for word in reversed(conjunctions):
        if word.i < root.i and word.lower in _OPENERS and _is_sentence_initial(word):
            concept, role = _OPENERS[word.lower]
            state.add_above(concept, word.i, owner, role, "opener")


def _is_sentence_initial(word: Word) -> bool:
    """Return whether only punctuation, interjections and conjunctions precede a word in its sentence."""
    before = (other for other in word.tree[: word.i] if other.sentence == word.sentence)
    return all(other.tag in _BEFORE_OPENERS for other in before)


def write_shared(state: RuleState, written: dict[int, list[int]]) -> None:
    """Link verbs without a subject to the subject of another verb.

    Conjoined verbs take the subject of the first verb, as in *he sat and waited*. An infinitive or participle
    takes a subject or object from the clause above it, as in *she wants to go*.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
        written: The coordinations that `write_coordination` has returned.
    """
    for first, members in written.items():
        subject = _subject(state, state.words[first])
        if subject is not None:
            for member in members[1:]:
                _share_subject(state, member, subject)
    for word in state.words:
        verb = state.node_owner(word.i)
        if word.dep in {"xcomp", "advcl", "pcomp"} and verb in state.head_nodes:
            giver = _controller(state, word)
            if giver is not None:
                _share_subject(state, verb, giver)
                for member in written.get(verb, [])[1:]:
                    _share_subject(state, member, giver)


def _subject(state: RuleState, verb: Word) -> Word | None:
    """Return the subject of a verb. For *tall* in "She is tall", return *she*, the subject of the copula."""
    own = verb.child(*SUBJECTS)
    # In "She is tall", the subject depends on "is", which shares the node of "tall". So use the subject of
    # "is".
    if own is None and state.representatives.get(verb.head) == verb.i:
        own = verb.parent.child(*SUBJECTS)
    return own


def _controller(state: RuleState, word: Word) -> Word | None:
    """Return the word that is the understood subject of an infinitive or participle, or ``None``."""
    head = word.parent
    # Only a verb without a written subject has an understood subject: "saying" in "he left without saying a
    # word", but not "came" in "when he came".
    if word.child(*SUBJECTS) is not None or (word.dep == "advcl" and word.tag not in {"VBG", "VB", "VBN"}):
        return None
    # In "he left without saying a word", "saying" depends on "without". Its understood subject is the subject
    # of the verb above "without", so go one step further up, to "left".
    if word.dep == "pcomp":
        head = head.parent
    if word.dep == "xcomp":
        controlling_object = head.child("dobj", "dative")
        # In "She asked him to go", the object (*him*) is the subject of *go*. In "She promised him to go",
        # *she* is.
        if (
            controlling_object is not None
            and head.lemma in word_class("object-control")
            and controlling_object.i < word.i
        ):
            return controlling_object
    # In "wants to try to go", the search follows infinitives and conjuncts up to a verb with a subject.
    for _ in range(8):
        subject = _subject(state, head)
        if subject is not None:
            return subject
        if head.dep not in {"conj", "xcomp"} or head.head == head.i:
            return None
        head = head.parent
    return None


def _share_subject(state: RuleState, verb: int, subject: Word) -> None:
    """Link a verb to the subject of another verb: *waited* to *he* in *he sat and waited*."""
    word, subject_node = state.words[verb], state.outer_of(subject)
    if word.tag[:2] not in {"VB", "JJ"} or subject_node is None or _subject(state, word) is not None:
        return
    passive = word.tag == "VBN" or word.child("auxpass") is not None
    form = "nsubjpass" if passive else ("cop_subj" if word.tag[:2] == "JJ" else "nsubj")
    role = subject_role(state, word, form, subject.lemma)
    if role is not None:
        state.draft.link(state.head_nodes[verb], role, subject_node, "shared")


def merge_reflexives(state: RuleState) -> None:
    """Merge each reflexive pronoun with the subject of its clause: *himself* with *he* in *he told himself*.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
    """
    for word in state.words:
        node = state.head_nodes.get(word.i)
        if node is None or word.lower not in word_class("reflexive") or state.draft.nodes[node].deleted:
            continue
        verb, subject = word.parent, None
        # In "he began to wash himself", the subject belongs to a verb above "wash". Therefore the search for
        # the subject goes up several verbs.
        for _ in range(6):
            subject = _subject(state, verb)
            if subject is not None or verb.head == verb.i:
                break
            verb = verb.parent
        meant = state.outer_of(subject) if subject is not None and subject.i != word.i else None
        if meant is not None and meant != node:
            state.redirect(node, meant)


def merge_pronouns(state: RuleState) -> None:
    """Merge all mentions of the same personal pronoun in a sentence.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
    """

    def key(node: DraftNode) -> tuple[str | None, int] | None:
        personal = node.concept in PERSONAL and node.rule in {"pronoun", "imperative"}
        return (node.concept, node.sentence) if personal else None

    state.draft.merge(key)


def merge_nouns(state: RuleState) -> None:
    """Merge *it*, *his* and other pronouns with the nouns to which they refer, if this is clear.

    The noun must precede the pronoun in the same sentence.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
    """
    named: dict[int, list[Word]] = {}
    for word in state.words:
        if word.tag in {"NN", "NNP", "NNS"} and word.i in state.top_nodes and word.i not in state.done:
            named.setdefault(word.sentence, []).append(word)
        elif word.lower in _REFERENCES and word.i in state.head_nodes:
            antecedent = _antecedent(state, word, named.get(word.sentence, []))
            node = state.head_nodes[word.i]
            # In "The boy lost his hat", the node of "his" is merged into the node of "boy".
            if antecedent is not None and not state.draft.nodes[node].deleted:
                state.draft.nodes[node].rule = "coreference"
                state.redirect(node, state.top_nodes[antecedent.i])


def _antecedent(state: RuleState, pronoun: Word, named: list[Word]) -> Word | None:
    """Return the noun to which a pronoun most likely refers, or ``None`` if no noun fits."""
    kind, over = _REFERENCES[pronoun.lower], pronoun.parent
    if kind == "thing" and pronoun.dep == "nsubj" and over.lemma in _EXPLETIVE_VERBS:
        # In "It is late", "It seems so" and "It is good to sleep", "it" refers to nothing.
        return None

    # In "The boy saw him", "him" is not the boy. So exclude nouns that depend on the same verb as the
    # pronoun.
    heads = {over.i, over.head if pronoun.dep == "pobj" else over.i}

    def nearness(noun: Word) -> float:
        # A noun is a more likely antecedent if it is close to the pronoun, and if it is a subject or an
        # object.
        argument = noun.dep in {"nsubj", "nsubjpass", "dobj"}
        return 1.0 / (1 + (pronoun.i - noun.i) / 10) + (0.5 if argument else 0.0)

    apart = [noun for noun in named if noun.head not in heads and noun.i != over.i]
    return max((noun for noun in apart if _fits(state, noun, kind)), key=nearness, default=None)


def _fits(state: RuleState, noun: Word, kind: str) -> bool:
    """Return whether a pronoun of a given kind may refer to a noun.

    Args:
        state: The words of the text, and the graph under construction.
        noun: The noun.
        kind: ``person`` for *he* and *she*, ``thing`` for *it*, ``people`` for *they*.
    """
    if kind == "people" or noun.tag == "NNS":
        return kind == "people" and noun.tag == "NNS"
    # Proper nouns (NNP) count as people, because the tags do not distinguish "Ann" from "Rome".
    human = noun.lemma in word_class("people") or state.concept_of(noun.i) == "person" or noun.tag == "NNP"
    return human == (kind == "person")


def join_speech(state: RuleState, roots: list[Word]) -> list[Word]:
    """Link direct speech to the sentence that introduces it.

    Both orders are recognised: *"Where are they?" he asked.* and *He asked: "Where are they?"*

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
        roots: The roots of the sentences.

    Returns:
        The roots of the sentences that were not linked to another sentence.
    """
    left: list[Word] = []
    for root in roots:
        if root.tag in _QUOTE_TAGS:
            continue
        before = left[-1] if left else None
        # In '"Where are they?" he asked', spaCy often ends a sentence at the question mark. So join "he
        # asked" with the sentence before it.
        if before is not None and _reports_before(before, root):
            if _link_quotation(state, root, before):
                left[-1] = root
                continue
        elif before is not None and _lacks_reported_speech(before):
            first = _first_word_of_sentence(root).i
            # In 'He asked: "Where are they?"', the colon shows that the next sentence is what he asked, so
            # link both sentences.
            introduced = any(word.text == ":" for word in root.tree[max(0, first - 2) : first + 1])
            if introduced and _link_quotation(state, before, root):
                continue
        left.append(root)
    return left


def _lacks_reported_speech(word: Word) -> bool:
    """Return whether a word is a verb of saying without a complement, as in *He asked: "Where are they?"*."""
    return word.lemma in SPEECH and word.tag[:2] == "VB" and word.child("ccomp", "dobj", "parataxis") is None


def _reports_before(quote: Word, said: Word) -> bool:
    """Return whether ``said`` is the verb of a clause that reports the quotation before it.

    In *"Why?" he asked*, the clause *he asked* reports the quotation *Why?*.
    """
    opening, words = _first_word_of_sentence(said), said.tree
    if not _lacks_reported_speech(said):
        return False
    if opening.tag in _QUOTE_TAGS and opening.following is not None:
        opening = opening.following
        # In '"…" he asked', the clause after the quotation starts with a lower-case letter, a name or a
        # pronoun. Any other word with a capital letter is taken as the start of a new sentence.
        return opening.text[:1].islower() or opening.tag in {"NNP", "PRP"}
    between = [word for word in words if quote.sentence < word.sentence < said.sentence]
    follows = quote.sentence < said.sentence and all(word.tag in _QUOTE_TAGS for word in between)
    return opening.text[:1].islower() and opening.i > 0 and follows


def _first_word_of_sentence(root: Word) -> Word:
    return next(word for word in root.tree if word.sentence == root.sentence)


def _link_quotation(state: RuleState, said: Word, quote: Word) -> bool:
    """Link a quotation to its verb of saying. Return False if the quotation or the verb has no node."""
    head, dep = state.core_of(said), state.outer_of(quote)
    if head is None or dep is None:
        return False
    # The quotation is ARG1 of frames such as say-01, but ARG2 of answer-01 and other frames of answering.
    state.draft.link(head, "ARG2" if state.draft.nodes[head].concept in ANSWERS else "ARG1", dep, "speech")
    for node in state.draft.nodes:
        if node.sentence == quote.sentence:
            node.sentence = said.sentence
    return True


def merge_speakers(state: RuleState) -> None:
    """Merge the pronouns in a quotation with its speaker and its addressee.

    In *"I know you", she told him*, the node of *I* is merged with *she*, and the node of *you* with *him*.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
    """
    spoken = quoted_words(state.words)
    says = (
        word
        for word in state.words
        if word.lemma in SPEECH
        and word.tag[:2] == "VB"
        and word.i in state.head_nodes
        and word.i not in spoken
    )
    # Assume that the first verb of saying outside the quotation introduces it: *said* in '"I know", she
    # said'.
    verb = next(says, None) if spoken else None
    if verb is None:
        return
    nodes, roles = state.draft.nodes, state.draft.roles(state.head_nodes[verb.i])
    for pronoun, role in (("i", "ARG0"), ("you", "ARG2")):
        meant = roles.get(role)
        if meant is None or nodes[meant].deleted or nodes[meant].concept in {None, "amr-unknown"}:
            continue
        # In '"I know you", she told him', "she" is the speaker. If the parser has found an "I" inside the
        # quotation marks as the speaker, do not merge the other quoted "I" with it.
        if nodes[meant].concept == pronoun and nodes[meant].token in spoken:
            continue
        for k, node in enumerate(nodes):
            if k != meant and not node.deleted and node.concept == pronoun and node.token in spoken:
                state.redirect(k, meant)
