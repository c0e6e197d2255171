"""Rules that add modality, negation, mood, questions and question words to an unfinished graph.

These rules run when the words already have their concepts. They add nodes above a clause or attach nodes to
it:

- *He can swim* becomes ``(p / possible-01 :ARG1 (s / swim-01 :ARG0 (h / he)))``.
- *Stop!* becomes ``(s / stop-01 :ARG0 (y / you) :mode imperative)``.
- *Did it rain?* becomes ``(r / rain-01 :polarity (a / amr-unknown))``.
- *Who came?* becomes ``(c / come-01 :ARG1 (a / amr-unknown))``.
- *She does not smoke* becomes ``(s / smoke-02 :ARG0 (s2 / she) :polarity -)``. The words *never*, *no*,
  *none*, *neither* and *without* also add a negative polarity.
"""

from __future__ import annotations

from graphneg.parsers.dependency.lexicon import word_class, word_map, word_pairs
from graphneg.parsers.dependency.rules.state import SPEECH, SUBJECTS, RuleState
from graphneg.parsers.dependency.text import Word

MODALS = word_pairs("modal")
"""Concept of each modal verb and role of the clause below it: ``obligate-01`` and ``ARG2`` for *must*.
"""
_SPEECH_MARKS = frozenset({":", '"', "``", "\u201c"})
"""Punctuation marks that introduce direct speech."""
_VERBS_WITH_POLITE_SHOULD = frozenset({"like", "love", "prefer", "say", "think"})
"""Verbs with which *should* is a polite form of *would*: *I should like to know*."""


def write_modals(state: RuleState) -> None:
    """Put ``possible-01``, ``obligate-01`` or ``recommend-01`` above a verb with a modal.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
    """
    for word in state.words:
        verb = word.child("xcomp")
        follows = verb is not None and state.core_of(verb) is not None
        if word.tag == "MD" and word.dep == "aux" and word.lemma in MODALS:
            # "I should like to come" expresses a wish, so it does not get recommend-01.
            if not (word.lower == "should" and word.parent.lemma in _VERBS_WITH_POLITE_SHOULD):
                _put_above_clause(state, word, *MODALS[word.lemma])
        elif word.i not in state.head_nodes:
            continue
        elif word.lemma == "have":
            # "You have to go" gets obligate-01. "You have a book to read" expresses possession.
            if verb is not None and verb.is_infinitive and word.child("dobj") is None and follows:
                _rename(state, word, "obligate-01", "modal")
        elif word.lower in {"maybe", "perhaps"}:
            # "Maybe he left" means that it is possible that he left, so possible-01 is put above the verb.
            if word.dep == "advmod" and state.node_owner(word.head) != word.i:
                _put_above_clause(state, word, "possible-01")
        elif word.lower == "better" and word.dep == "advmod":
            # "You'd better stay" and "You had better stay" express advice, so they get recommend-01.
            had = any(aux.lower in {"'d", "had"} and aux.i < word.i for aux in word.parent.children("aux"))
            if had and word.i < word.head:
                _put_above_clause(state, word, "recommend-01")
        # "She is able to swim" gets possible-01, because it has the same meaning as "She can swim".
        elif word.lower == "able" and follows:
            _rename(state, word, "possible-01", "able")


def _rename(state: RuleState, word: Word, concept: str, rule: str) -> None:
    node = state.draft.nodes[state.head_nodes[word.i]]
    node.concept, node.rule = concept, rule


def _put_above_clause(state: RuleState, word: Word, concept: str, role: str = "ARG1") -> None:
    """Put the concept of a modal or an adverb above its clause: "Maybe he left" gets ``possible-01``."""
    owner = state.node_owner(word.head)
    if owner in state.top_nodes:
        # "Maybe" may already have a node. Delete this node, because the new concept replaces it.
        if word.i in state.head_nodes:
            state.erase(word.i)
        state.add_above(concept, word.i, owner, role, "modal")


def write_moods(state: RuleState, root: Word) -> None:
    """Add the nodes for imperatives, questions, *please* and *thanks* in a sentence.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
        root: The root of the sentence.
    """
    core = state.core_of(root)
    if core is None:
        return
    # "Thanks!" means "I thank you", so the speaker and the addressee are added.
    if root.lower in {"thank", "thanks"} and state.draft.nodes[core].concept == "thank-01":
        known = state.draft.roles(core)
        for role, concept in (("ARG0", "i"), ("ARG1", "you")):
            if role not in known:
                person = state.draft.concept(concept, None, "imperative", root.sentence)
                state.draft.link(core, role, person, "thanks")
    # "Come in and sit down" and "Wait, stop!" contain further imperatives. A conjunct can be an imperative
    # only if the root is also an imperative.
    orders = [kid for kid in root.children("ccomp", "conj", "parataxis") if kid.tag == "VB"]
    for word in (root, *(kid for kid in orders if kid.dep != "conj" or _is_imperative(root))):
        _write_order(state, word)
    for word in state.words:
        # In "Please come in", "please" becomes :polite + of the clause. As the root or with dependents,
        # "please" is a verb, as in "to please them".
        if (
            word.lower == "please"
            and word.sentence == root.sentence
            and word.i != root.i
            and not word.dependents
        ):
            state.add_constant(core, "polite", "+", word.i, "please")
            break
    _write_question(state, root)


def _write_order(state: RuleState, word: Word) -> None:
    """Add ``:mode imperative`` and the agent *you* to an imperative."""
    core, nodes = state.core_of(word), state.draft.nodes
    if core is None or not _is_imperative(word):
        return
    nodes[state.add_constant(core, "mode", "imperative", None, "imperative")].token = word.i
    if word.i not in state.representatives and "ARG0" not in state.draft.roles(core):
        you = state.draft.concept("you", None, "imperative", word.sentence)
        nodes[you].token = word.i
        state.draft.link(core, "ARG0", you, "imperative")


def _is_imperative(word: Word) -> bool:
    # "Go" and "Be quiet" are imperatives. "thank you", "they are", "you go", "if you go", "to go" and "must
    # go" are not.
    if (
        word.tag not in {"VB", "VBP"}
        or word.lemma == "thank"
        or (word.lemma == "be" and (word.lower != "be" or word.dep != "ROOT"))
        or word.child(*SUBJECTS, "csubj", "expl", "mark") is not None
        or any(aux.tag in {"MD", "TO"} or aux.lemma == "have" for aux in word.children("aux"))
    ):
        return False
    # Accept a root with any tag, because taggers often give the tag VBP instead of VB to an imperative at the
    # start of a sentence.
    return word.tag == "VB" or word.dep == "ROOT"


def _write_question(state: RuleState, root: Word) -> None:
    """Mark a yes/no question.

    "Don't you see?" and "It is late, isn't it?" ask for confirmation and get ``request-confirmation-91``.
    Other questions get ``:polarity (a / amr-unknown)``.
    """
    members = [word for word in state.words if word.sentence == root.sentence]
    tagged = any(word.dep == "tag" for word in members)
    if not tagged and not _is_yes_no_question(root, members):
        return
    draft, owner = state.draft, state.node_owner(root.i)
    core, outer = state.head_nodes[owner], state.top_nodes[owner]
    denials = (arc.dep for arc in draft.arcs if arc.head == core and arc.role == "polarity")
    denial = next((dep for dep in denials if draft.nodes[dep].value == "-"), None)
    # "Don't you see?" expects the answer yes: it asks for confirmation that you see. Remove its negation.
    if not tagged and denial is not None:
        draft.drop(denial)
    # "It is late, isn't it?" also asks for confirmation, because it has a question tag.
    if tagged or denial is not None:
        draft.concept("request-confirmation-91", None, "question", root.sentence, ARG1=outer)
        return
    # In '"Did it rain?" she asked', only the quotation is a question, so its node gets :polarity amr-unknown.
    if _may_introduce_quotation(root):
        asked = root.child("ccomp")
        if asked is None or state.core_of(asked) is None:
            return
        owner = state.node_owner(asked.i)
        core, outer = state.head_nodes[owner], state.top_nodes[owner]
    unknown = draft.concept("amr-unknown", None, "question", root.sentence)
    # "Can you swim?" asks whether swimming is possible, so the node of the modal gets the polarity.
    draft.link(outer if draft.nodes[outer].rule == "modal" else core, "polarity", unknown, "question")
    for word in members:
        if word.text.startswith("?"):
            draft.nodes[unknown].token = word.i


def _may_introduce_quotation(root: Word) -> bool:
    """Return whether a root can introduce a quotation: it is a verb of saying without an auxiliary."""
    return root.lemma in SPEECH and root.tag[:2] == "VB" and root.child("aux") is None


def _is_yes_no_question(root: Word, members: list[Word]) -> bool:
    """Return whether a sentence is a yes/no question: it has "?" or inversion, but no question word."""
    last = members[-3:]
    # In '"Is it far?" he asked.', the question mark is in the quotation, so look for it there, too.
    quoted = root.child("ccomp") if _may_introduce_quotation(root) else None
    if quoted is not None and quoted.i < root.i:
        last += quoted.children("punct")
    if not any(word.text.startswith("?") for word in last) and not opens_question(root):
        return False
    return not any(
        _is_in_main_clause(word, root) for word in members if word.tag in {"WP", "WRB", "WDT", "WP$"}
    )


def _is_in_main_clause(word: Word, root: Word) -> bool:
    """Return whether a question word belongs to the main clause of its sentence."""
    head = word
    while True:
        # "Do you know who came?" is a yes/no question, since "who" belongs to the object clause. A question
        # word belongs to the main clause if it is fronted ("What do you think he did?") or in direct speech.
        if head.dep in {"relcl", "acl", "advcl", "ccomp"} and head.i != root.i:
            if head.dep != "ccomp" or head.head != root.i:
                return False
            return word.i < root.i or any(mark.text in _SPEECH_MARKS for mark in root.tree[root.i : word.i])
        if head.head == head.i:
            return True
        head = head.parent


_TAGS_BEFORE_AUXILIARY = frozenset({",", ".", "``", "''", ":", "-LRB-", "HYPH", "_SP"})
"""Tags of punctuation marks that may precede the auxiliary of a question."""
_WORDS_BEFORE_AUXILIARY = frozenset({"and", "or", "but", "so", "well", "now", "then"})
"""Words that may precede the auxiliary of a question, as in *So do you like it*."""


def opens_question(root: Word) -> bool:
    """Return whether an auxiliary or *be* directly precedes the subject, as in a question.

    In this way, questions without a question mark are recognised: *do you like it*, *May I come in .* and
    *nice are you a nurse*. In contrast, *So do I*, *Here is one*, *What a fool am I!* and *May you be happy*
    are not questions.

    Args:
        root: The root of a sentence.

    Returns:
        True if the inversion marks a question.
    """
    subject, words = root.child(*SUBJECTS), root.tree
    if subject is None:
        return False
    verb = min((subject.i, *subject.dependents)) - 1
    # In "Doesn't he know", the negation between the auxiliary and the subject is skipped.
    while verb > 0 and words[verb].lower in {"n't", "not"}:
        verb -= 1
    first = words[verb]
    inverts = first.tag == "MD" or first.lower in MODALS or first.lemma in {"do", "have", "be"}
    # Only "be" can precede the subject as a main verb: "Are you a nurse". With any other main verb, an
    # auxiliary precedes the subject: "Do you sing".
    if verb == root.i:
        inverts = first.lemma == "be" and first.tag in {"VBP", "VBZ", "VBD"}
    elif first.head != root.i or first.dep not in {"aux", "auxpass"}:
        return False
    # "May I come in" asks for permission and is a question. "May you be happy" is a wish.
    if verb < 0 or not inverts or (first.lower == "may" and subject.lower not in {"i", "we"}):
        return False
    members = [word for word in words if word.sentence == root.sentence]
    before = [word for word in members if word.i < verb]
    # "So am I" expresses agreement, and "What a fool am I!" is an exclamation. Neither is a question.
    so = before and before[-1].lower == "so" and verb == root.i
    if so or any(word.text.startswith("!") for word in members[-2:]):
        return False
    return all(
        word.lower in _WORDS_BEFORE_AUXILIARY
        or word.tag in _TAGS_BEFORE_AUXILIARY
        or word.tag in {"UH", "JJ"}
        for word in before
    )


_MEASURES = word_map("measure")
"""For each word after *how*, the relation of the whole phrase: ``how-long`` (a duration) for *how long*."""
_CLAUSES = frozenset({"ROOT", "relcl", "acl", "advcl", "ccomp", "xcomp", "pcomp", "csubj", "parataxis"})
"""Dependency relations of clauses."""


def write_question_words(state: RuleState) -> None:
    """Add the nodes of question words such as *who* and *where*.

    A relative pronoun such as *who* in *the man who came* gets no node.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
    """
    for word in state.words:
        if word.tag in {"WP", "WDT", "WP$", "WRB"} and word.i not in state.done:
            clause = clause_of(word)
            head = clause.parent
            # In '"Who came?" he asked', the complement "Who came?" is direct speech, so "who" is asked for.
            # A complement counts as direct speech if it precedes its verb, or if its verb is, for example,
            # "say" or "ask".
            quoted = clause.i < head.i or head.lemma in {"say", "ask", "reply", "demand", "cry"}
            direct = clause.dep in {"ROOT", "conj", "parataxis"} or (clause.dep == "ccomp" and quoted)
            asked = direct and _is_asked(clause)
            if word.lower in word_class("wh-pronoun"):
                # In "the man who came", the relative pronoun refers to "man" and gets no node.
                if clause.dep not in {"relcl", "acl"} or word.lower == "what":
                    _write_pronoun(state, word, asked, direct)
            elif word.lower in {"where", "when", "why", "how"}:
                _write_adverb(state, word, asked, direct)
            state.done.add(word.i)


def _write_pronoun(state: RuleState, word: Word, asked: bool, direct: bool) -> None:
    """Add a node for a question word such as *who* or *what*."""
    # "What happened?" asks for a thing (amr-unknown). In "What a day!", "what" gets no node.
    if asked or (direct and word.lower == "what" and word.dep not in {"det", "predet"}):
        state.add("amr-unknown", word.i, "question")
    # "I know what happened" is not a question: "what" refers to a thing that happened, so it becomes the node
    # "thing".
    elif not direct and word.lower in {"what", "whatever"} and word.dep != "det":
        state.add("thing", word.i, "free-relative")
    # "I know who came" is not a question: "who" refers to a person who came, so it becomes the node "person".
    elif not direct and word.lower in {"who", "whom", "whoever"}:
        state.add("person", word.i, "free-relative")


def _write_adverb(state: RuleState, word: Word, asked: bool, direct: bool) -> None:
    """Add a node for *where*, *when* or *how*, or for a question phrase such as *how many*."""
    measured = word.parent
    if asked:
        # "How many came?" asks for a number and "How long did you wait?" for a duration. In such questions,
        # "how" and "many" (or "long") share a node.
        if word.lower == "how" and measured.lower in _MEASURES and measured.dep != "acomp":
            _write_measure(state, word, "amr-unknown", "question")
        # "Why" gets its node later, from `write_whys`.
        elif word.lower != "why":
            state.add("amr-unknown", word.i, "question")
    # "I know how many came" does not ask for the number, so the node is "thing" and not amr-unknown.
    elif word.lower == "how" and not direct and measured.lower in {"many", "much"}:
        if measured.i not in state.head_nodes and measured.i not in state.done:
            _write_measure(state, word, "thing", "free-relative")
    # The exclamation "How nice!" means "so nice", so it gets the concept "so".
    elif word.lower == "how" and measured.tag[:2] in {"JJ", "RB"} and direct:
        state.add("so", word.i, "exclamation")


def _write_measure(state: RuleState, how: Word, concept: str, rule: str) -> None:
    """Add one node for both words of *how many* or *how long*."""
    measured = how.parent
    state.add(concept, measured.i, rule)
    state.done.update((how.i, measured.i))
    # In "How many did you see?", "how many" is the object itself and keeps the relation of an object. In "How
    # many books", "how many" is the quantity of the books.
    if measured.dep not in {"dobj", "nsubj", "nsubjpass", "attr"}:
        state.relations[measured.i] = _MEASURES[measured.lower]


def write_whys(state: RuleState) -> None:
    """Put ``cause-01`` above each clause with *why*.

    *Why did he go?* becomes ``(c / cause-01 :ARG0 (a / amr-unknown) :ARG1 (g / go-02 ...))``.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
    """
    for word in state.words:
        if word.lower != "why" or word.i not in state.done or word.i in state.head_nodes:
            continue
        clause, after = clause_of(word), word.following
        owner = state.node_owner(clause.i)
        # In "Why?" and "Why not?", there is no clause, so cause-01 becomes the node of "why".
        if clause.i == word.i or (clause.lower == "not" and clause.head == clause.i):
            # In "Why not?", there is no clause to negate, so the negation is attached to cause-01.
            node = state.add("cause-01", word.i, "why", ARG0="amr-unknown")
            if after is not None and after.lower == "not" and after.i not in state.head_nodes:
                state.add_constant(node, "polarity", "-", after.i, "negation")
        # "I know why he went" does not ask for the cause, so the cause is "thing" and not amr-unknown.
        elif clause.dep not in {"relcl", "advcl"} and owner in state.head_nodes:
            node = state.add_above("cause-01", word.i, owner, "ARG1", "why")
            concept = "amr-unknown" if _is_asked(clause) else "thing"
            state.draft.link(node, "ARG0", state.draft.concept(concept, word.i, "why"), "why")


def clause_of(word: Word) -> Word:
    """Return the head of the clause to which a question word belongs.

    Args:
        word: The question word.

    Returns:
        The head of the nearest clause above the question word. A complement from which the question word was
        moved is skipped: for "what" in "What do you want to eat?" the head is "want", not "eat".
    """
    asking = word
    while word.head != word.i:
        # In "What do you want to eat?", the question word precedes "want", so it belongs to the main clause.
        fronted = word.dep in {"ccomp", "xcomp"} and asking.i < word.head
        joined = word.tag[:2] == "VB" and word.dep in {"conj", "pobj"}
        if joined or (word.dep in _CLAUSES and not fronted):
            break
        word = word.parent
    return word


def _is_asked(clause: Word) -> bool:
    """Return whether a clause is a question: a question mark follows its verb in the same sentence."""
    rest = clause.tree[clause.i :]
    return any("?" in word.text for word in rest if word.sentence == clause.sentence)


_INNER_NEGATION = word_class("inner-negation")
"""Modals that are not negated by a following *not*: the verb is negated instead. *Must not go* is an
obligation not to go, and *should not go* is advice not to go. In contrast, *cannot go* negates the
possibility.
"""
_AMOUNTS = frozenset({"very", "much", "many", "altogether", "entirely", "completely", "all"})
"""Degrees and amounts that *not* negates when it directly precedes them: *not very good*."""
_COUNTING = frozenset({"every", "all", "even", "everyone", "everybody", "everything"})
"""Words that may start a subject after *not*. The *not* then negates the predicate: *not everyone came*."""


def write_negation(state: RuleState) -> None:
    """Add ``:polarity -`` to each node that a negative word such as *not* or *without* negates.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
    """
    for word in state.words:
        target, rule = _negated_node(state, word)
        if target is not None:
            state.add_constant(target, "polarity", "-", word.i, rule)
            if rule == "negation" or (rule == "no" and word.dep == "neg"):
                _negate_conjuncts(state, word, target)


def _negated_node(state: RuleState, word: Word) -> tuple[int | None, str]:
    """Return the node that a word such as *not* negates (None for no node), and the name of the rule used."""
    after = word.following
    if (
        word.lemma in {"not", "n't", "nt"}
        and word.tag in {"RB", "CC", "DT"}
        and word.i not in state.head_nodes
    ):
        # "not only good but cheap" negates nothing, so no polarity is added.
        if after is not None and after.lower in {"only", "merely"}:
            return None, ""
        if after is not None and after.lower in _AMOUNTS and after.i in state.head_nodes:
            # In "not very good" and "not many people", the polarity is added to "very" and "many". The
            # phrases do not mean "bad" or "no people", so the adjective and the noun are not negated.
            over = after.parent
            beside = after.dep in {"advmod", "amod", "nummod"} and over.tag[:2] in {"JJ", "RB", "NN"}
            if beside and over.i > after.i:
                return state.head_nodes[after.i], "negation"
        return _negated_predicate(state, word), "negation"
    # "never" already has a node with the concept "ever". It also negates the clause: "He never came".
    if word.lower == "never" and word.i in state.head_nodes:
        return _negated_predicate(state, word), "never"
    head = word.parent
    if word.lower == "no" and word.i not in state.head_nodes and word.i not in state.done:
        # "no" negates the comparison in "no taller than", the verb in "No man came", and "have" (not the
        # noun) in "I have no time". In all other phrases, such as "It is no problem", "no" negates the noun.
        if head.tag in {"JJR", "RBR"} and word.i < head.i:
            while head.lower in {"more", "less"} and head.parent.tag[:2] in {"JJ", "RB"}:
                head = head.parent
            return state.core_of(head), "no"
        beside = word.tag == "DT" and word.dep in {"det", "neg"}
        return _node_negated_by_no(state, head) if beside else None, "no"
    if word.lower in {"none", "neither"}:
        # In "none of them came" and "neither he nor she came", "none" and "neither" negate the verb.
        if word.dep in {"preconj", "det", "cc"} and word.lower == "neither":
            return _node_negated_by_no(state, head) if head.tag[:2] in {"NN", "PR"} else None, "none"
        deferred = word.i in state.representatives and word.dep in {*SUBJECTS, "dobj"}
        return state.core_of(head) if deferred else None, "none"
    # The word "without" negates the noun or clause after it: "sugar" in "without sugar".
    inner = word.child("pobj", "pcomp") if word.lower == "without" else None
    return (None if inner is None else state.core_of(inner)), "without"


def _negated_predicate(state: RuleState, word: Word) -> int | None:
    """Return the node that *not* negates: the predicate, or the modal above it."""
    head, after = word.parent, word.following
    # In "not so bad", spaCy may attach "not" to "so", but "not" negates the adjective, the head of "so".
    if head.lower in {"so", "too", "as", "that", "quite", "really"} and head.dep == "advmod":
        head = head.parent
    # In "You ought not to go", the verb below "ought" is negated.
    ought = head.child("xcomp") if head.lemma == "ought" else None
    if ought is not None:
        head = ought
    # In "Not everyone came", "not" negates the verb "came", which is the head of the subject "everyone".
    elif head.dep in SUBJECTS and head.i > word.i and after is not None and after.lower in _COUNTING:
        head = head.parent
    owner = state.node_owner(head.i)
    if owner == word.i:
        return None
    # "You cannot go" negates the modal. "You must not go" negates the verb (see `_INNER_NEGATION`).
    for modal in head.children("aux"):
        if modal.lemma in MODALS and modal.lemma not in _INNER_NEGATION and owner in state.top_nodes:
            outer = state.top_nodes[owner]
            return (
                outer
                if state.draft.nodes[outer].concept == MODALS[modal.lemma][0]
                else state.head_nodes[owner]
            )
    return state.persons.get(owner, state.head_nodes.get(owner))


def _negate_conjuncts(state: RuleState, word: Word, target: int) -> None:
    """Also negate the conjuncts of a negated verb, as in *is not dancing and playing*."""
    verb = word.parent
    if target != state.head_nodes.get(verb.i) or verb.child_word("cc", "and", "or") is None:
        return
    for other in verb.children("conj"):
        # In "He is not dancing and she plays", the second verb has its own subject and is not negated.
        own = other.child("nsubj", "nsubjpass", "expl", "aux", "auxpass", "neg")
        alike = other.tag[:2] == "VB" and (other.tag == verb.tag or {other.tag, verb.tag} == {"VB", "VBP"})
        if own is None and alike and other.i in state.head_nodes:
            state.add_constant(state.head_nodes[other.i], "polarity", "-", None, "negation")


def _node_negated_by_no(state: RuleState, noun: Word) -> int | None:
    """Return the node that the *no* of a noun negates: the verb if the noun is a subject, else the noun."""
    verb = noun.parent
    denies = noun.dep in SUBJECTS or (noun.dep == "dobj" and verb.lemma == "have")
    return state.core_of(verb if denies and state.core_of(verb) is not None else noun)
