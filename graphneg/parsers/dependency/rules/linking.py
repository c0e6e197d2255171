"""What joins clauses and mentions: coordination, shared subjects, direct speech, pronouns.

In: a `RuleState` whose words have their concepts (whose clauses are linked, for all but coordination). Out:

- a node over conjuncts, which stands for them from then on (*eggs and ham*: ``(a / and :op1 (e / egg) :op2 (h
  / ham))``), and over each sentence that begins with *But*, *And*, *So* or *Because*
- reentrancy: *She wants to go*: ``(w / want-01 :ARG0 (s / she) :ARG1 (g / go-02 :ARG0 s))``; one node for
  *Tom* and *himself*, for *the rose* and *its*
- *"Where are they?" he asked.* as one graph, with the question as ``:ARG1`` of ``ask-01``; in *"I know you",
  she told him* one node for *she* and *I*, and one for *him* and *you*
"""

from __future__ import annotations

from graphneg.parsers.dependency.draft import DraftArc, DraftNode
from graphneg.parsers.dependency.lexicon import word_class, word_map, word_pairs
from graphneg.parsers.dependency.rules.roles import subject_role
from graphneg.parsers.dependency.rules.state import SPEECH, SUBJECTS, RuleState, quoted_words
from graphneg.parsers.dependency.text import Word

_OPENERS = word_pairs("opener")
_BEFORE_OPENERS = frozenset({"``", "''", "CC", "UH", ",", ":", ".", "-LRB-", "NFP", "HYPH"})
_REFERENCES = word_map("reference")
_EXPLETIVE_VERBS = frozenset({"be", "seem", "rain", "snow", "take", "happen", "matter"})
PERSONAL = frozenset({"i", "you", "he", "she", "it", "we", "they"})
ANSWERS = frozenset({"answer-01", "reply-01", "respond-01"})
"""Their ``ARG1`` is who or what is answered, their ``ARG2`` the answer."""
_QUOTE_TAGS = frozenset({"``", "''", '"'})


def groups(state: RuleState) -> list[list[int]]:
    """The conjuncts of each coordination, in order of the text."""
    by_first: dict[int, list[int]] = {}
    for word in state.words:
        if word.dep == "conj":
            first = word
            while first.dep == "conj" and first.head != first.i:
                first = first.parent
            by_first.setdefault(first.i, [first.i]).append(word.i)
    return list(by_first.values())


def write_coordination(state: RuleState) -> dict[int, list[int]]:
    """Puts a conjunction over each group of conjuncts; gives each group's proxies by its first."""
    written: dict[int, list[int]] = {}
    for group in reversed(groups(state)):
        members = [i for i in dict.fromkeys(state.proxy(i) for i in group) if i in state.outer]
        if len(members) < 2:
            continue
        concept, anchor = _conjunction(state, group)
        node = state.draft.concept(concept, anchor, "coordination", state.words[members[0]].sentence)
        if anchor is None:
            between = reversed(state.words[group[0] + 1 : group[1]])
            mark = next((word.i for word in between if word.tag in {",", ":"}), None)
            state.draft.nodes[node].token = mark
        shared = _shared_modal(state, members)
        tops = [state.outer[member] for member in members]
        if shared is not None:
            tops[0], shared.dep = shared.dep, node
        else:
            state.outer[members[0]] = node
        for n, top in enumerate(tops, 1):
            role = f"ARG{min(n, 2)}" if concept == "contrast-01" else f"op{n}"
            state.draft.link(node, role, top, "coordination")
        state.done.update(members[1:])
        written[members[0]] = members
    return written


def _shared_modal(state: RuleState, members: list[int]) -> DraftArc | None:
    """The arc from a modal that holds for all conjuncts: *you should sit and wait*."""
    outer, others = state.outer[members[0]], [state.words[member] for member in members[1:]]
    own = any(word.child("nsubj", "nsubjpass", "aux", "expl") for word in others)
    bare = not own and all(word.tag in {"VB", "VBN"} for word in others)
    if state.draft.nodes[outer].rule != "modal" or outer == state.core[members[0]] or not bare:
        return None
    return next((arc for arc in state.draft.arcs if arc.head == outer and arc.rule == "modal"), None)


def _conjunction(state: RuleState, group: list[int]) -> tuple[str, int | None]:
    """The concept of a coordination, and the word that it comes from."""
    conjunctions = [word for i in group for word in state.words[i].children("cc")]
    for word in conjunctions:
        concept = word_map("conjunction").get(word.lower)
        if concept is not None and not (concept == "contrast-01" and len(group) > 2):
            return concept, word.i
    if any(word.lower in {"either", "neither"} for word in conjunctions):
        return "or", conjunctions[0].i
    return "and", None


def write_openers(state: RuleState, root: Word) -> None:
    """What a sentence that begins with a conjunction follows from, or is opposed or added to.

    *So …*: ``cause-01 :ARG1``; *Because …* alone: ``cause-01 :ARG0``; *But …* and *And …*: ``contrast-01
    :ARG2``, ``and :op2``.
    """
    proxy = state.proxy(root.i)
    if proxy not in state.outer:
        return
    for word in root.children("advmod", "mark", "cc"):
        after = word.following
        is_degree = word.lower == "so" and after is not None and after.tag[:2] in {"JJ", "RB"}
        if word.lower in {"so", "therefore", "thus"} and word.i < root.i and _opens(word):
            if not is_degree or (after is not None and after.lower == "then"):
                if word.i in state.core:
                    state.erase(word.i)
                state.above("cause-01", word.i, proxy, "ARG1", "so")
        elif word.lower in {"because", "for"} and word.dep == "mark":
            state.above("cause-01", word.i, proxy, "ARG0", "because")
    conjunctions = root.children("cc") + (state.words[proxy].children("cc") if proxy != root.i else [])
    for word in reversed(conjunctions):
        if word.i < root.i and word.lower in _OPENERS and _opens(word):
            concept, role = _OPENERS[word.lower]
            state.above(concept, word.i, proxy, role, "opener")


def _opens(word: Word) -> bool:
    """Whether nothing but marks, interjections and other conjunctions stand before it."""
    before = (other for other in word.tree[: word.i] if other.sentence == word.sentence)
    return all(other.tag in _BEFORE_OPENERS for other in before)


def write_shared(state: RuleState, written: dict[int, list[int]]) -> None:
    """Conjoined verbs share a subject; infinitives and participles take the one above them."""
    for first, members in written.items():
        subject = _subject(state, state.words[first])
        if subject is not None:
            for member in members[1:]:
                _lend(state, member, subject)
    for word in state.words:
        verb = state.proxy(word.i)
        if word.dep in {"xcomp", "advcl", "pcomp"} and verb in state.core:
            giver = _controller(state, word)
            if giver is not None:
                _lend(state, verb, giver)
                for member in written.get(verb, [])[1:]:
                    _lend(state, member, giver)


def _subject(state: RuleState, verb: Word) -> Word | None:
    """The subject of a verb, or of the copula that it stands for."""
    own = verb.child(*SUBJECTS)
    if own is None and state.proxies.get(verb.head) == verb.i:
        own = verb.parent.child(*SUBJECTS)
    return own


def _controller(state: RuleState, word: Word) -> Word | None:
    """The word whose referent does what the clause says."""
    head = word.parent
    if word.child(*SUBJECTS) is not None or (word.dep == "advcl" and word.tag not in {"VBG", "VB", "VBN"}):
        return None
    if word.dep == "pcomp":
        head = head.parent
    if word.dep == "xcomp":
        given = head.child("dobj", "dative")
        if given is not None and head.lemma in word_class("object-control") and given.i < word.i:
            return given
    for _ in range(8):
        subject = _subject(state, head)
        if subject is not None:
            return subject
        if head.dep not in {"conj", "xcomp"} or head.head == head.i:
            return None
        head = head.parent
    return None


def _lend(state: RuleState, verb: int, subject: Word) -> None:
    """Links a verb that has no subject to another's."""
    word, giver = state.words[verb], state.outer_of(subject)
    if word.tag[:2] not in {"VB", "JJ"} or giver is None or _subject(state, word) is not None:
        return
    passive = word.tag == "VBN" or word.child("auxpass") is not None
    form = "nsubjpass" if passive else ("cop_subj" if word.tag[:2] == "JJ" else "nsubj")
    role = subject_role(state, word, form, subject.lemma)
    if role is not None:
        state.draft.link(state.core[verb], role, giver, "shared")


def merge_reflexives(state: RuleState) -> None:
    """*He told himself*: he told him who told."""
    for word in state.words:
        node = state.core.get(word.i)
        if node is None or word.lower not in word_class("reflexive") or state.draft.nodes[node].gone:
            continue
        verb, subject = word.parent, None
        for _ in range(6):
            subject = _subject(state, verb)
            if subject is not None or verb.head == verb.i:
                break
            verb = verb.parent
        meant = state.outer_of(subject) if subject is not None and subject.i != word.i else None
        if meant is not None and meant != node:
            state.redirect(node, meant)


def merge_pronouns(state: RuleState) -> None:
    """One node for all mentions of a pronoun in a sentence."""

    def key(node: DraftNode) -> tuple[str | None, int] | None:
        personal = node.concept in PERSONAL and node.rule in {"pronoun", "imperative"}
        return (node.concept, node.sentence) if personal else None

    state.draft.merge(key)


def merge_nouns(state: RuleState) -> None:
    """*it* and *its* mean the nearest thing named before in the sentence; *his* the subject's person."""
    named: dict[int, list[Word]] = {}
    for word in state.words:
        if word.tag in {"NN", "NNP", "NNS"} and word.i in state.outer and word.i not in state.done:
            named.setdefault(word.sentence, []).append(word)
        elif word.lower in _REFERENCES and word.i in state.core:
            antecedent = _antecedent(state, word, named.get(word.sentence, []))
            node = state.core[word.i]
            if antecedent is not None and not state.draft.nodes[node].gone:
                state.draft.nodes[node].rule = "coreference"
                state.redirect(node, state.outer[antecedent.i])


def _antecedent(state: RuleState, pronoun: Word, named: list[Word]) -> Word | None:
    """The noun that a pronoun means: near, of its kind, and no other argument of the same verb."""
    kind, over = _REFERENCES[pronoun.lower], pronoun.parent
    if kind == "thing" and pronoun.dep == "nsubj" and over.lemma in _EXPLETIVE_VERBS:
        return None  # *it is late*, *it seems*, *it is good to …*
    heads = {over.i, over.head if pronoun.dep == "pobj" else over.i}

    def nearness(noun: Word) -> float:
        argument = noun.dep in {"nsubj", "nsubjpass", "dobj"}
        return 1.0 / (1 + (pronoun.i - noun.i) / 10) + (0.5 if argument else 0.0)

    apart = [noun for noun in named if noun.head not in heads and noun.i != over.i]
    return max((noun for noun in apart if _fits(state, noun, kind)), key=nearness, default=None)


def _fits(state: RuleState, noun: Word, kind: str) -> bool:
    if kind == "people" or noun.tag == "NNS":
        return kind == "people" and noun.tag == "NNS"
    human = noun.lemma in word_class("people") or state.concept_of(noun.i) == "person" or noun.tag == "NNP"
    return human == (kind == "person")


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
        elif before is not None and _reports(before):
            first = _first(root).i
            introduced = any(word.text == ":" for word in root.tree[max(0, first - 2) : first + 1])
            if introduced and _take(state, before, root):
                continue
        left.append(root)
    return left


def _reports(word: Word) -> bool:
    """Whether it is a verb of saying without what is said."""
    return word.lemma in SPEECH and word.tag[:2] == "VB" and word.child("ccomp", "dobj", "parataxis") is None


def _reports_before(quote: Word, said: Word) -> bool:
    """Whether ``said`` is the *he asked* behind a quotation."""
    opening, words = _first(said), said.tree
    if not _reports(said):
        return False
    if opening.tag in _QUOTE_TAGS and opening.following is not None:
        opening = opening.following
        return opening.text[:1].islower() or opening.tag in {"NNP", "PRP"}
    between = [word for word in words if quote.sentence < word.sentence < said.sentence]
    follows = quote.sentence < said.sentence and all(word.tag in _QUOTE_TAGS for word in between)
    return opening.text[:1].islower() and opening.i > 0 and follows


def _first(root: Word) -> Word:
    """The first word of its sentence."""
    return next(word for word in root.tree if word.sentence == root.sentence)


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
