"""What stands over or beside a clause: modals, negation, moods, questions, and question words.

In: a `RuleState` whose words have their concepts. Out: ``possible-01`` over *can*, ``:mode imperative`` at
orders, ``amr-unknown`` where something is asked; ``:polarity -`` at what each *not*, *never*, *no*, *none*,
*neither* and *without* denies that is no concept of its own.
"""

from __future__ import annotations

from graphneg.parsers.dependency.lexicon import word_class, word_map, word_pairs
from graphneg.parsers.dependency.rules.state import SPEECH, SUBJECTS, RuleState
from graphneg.parsers.dependency.text import Word

MODALS = word_pairs("modal")
_SPEECH_MARKS = frozenset({":", '"', "``", "\u201c"})
_WISHED = frozenset({"like", "love", "prefer", "say", "think"})


def write_modals(state: RuleState) -> None:
    """``possible-01``, ``obligate-01``, ``recommend-01`` over the verb of a modal."""
    for word in state.words:
        verb = word.child("xcomp")
        follows = verb is not None and state.core_of(verb) is not None
        if word.tag == "MD" and word.dep == "aux" and word.lemma in MODALS:
            if not (word.lower == "should" and word.parent.lemma in _WISHED):
                _put_over_head(state, word, *MODALS[word.lemma])
        elif word.i not in state.core:
            continue
        elif word.lemma == "have":
            # *You have to go*; *You have a book to read* is none.
            if verb is not None and verb.is_infinitive and word.child("dobj") is None and follows:
                _rename(state, word, "obligate-01", "modal")
        elif word.lower in {"maybe", "perhaps"}:
            if word.dep == "advmod" and state.proxy(word.head) != word.i:
                _put_over_head(state, word, "possible-01")
        elif word.lower == "better" and word.dep == "advmod":
            had = any(aux.lower in {"'d", "had"} and aux.i < word.i for aux in word.parent.children("aux"))
            if had and word.i < word.head:
                _put_over_head(state, word, "recommend-01")
        elif word.lower == "able" and follows:
            _rename(state, word, "possible-01", "able")


def _rename(state: RuleState, word: Word, concept: str, rule: str) -> None:
    node = state.draft.nodes[state.core[word.i]]
    node.concept, node.rule = concept, rule


def _put_over_head(state: RuleState, word: Word, concept: str, role: str = "ARG1") -> None:
    """*Maybe he left*, *You'd better stay*: what the word means stands over the clause."""
    proxy = state.proxy(word.head)
    if proxy in state.outer:
        if word.i in state.core:
            state.erase(word.i)
        state.above(concept, word.i, proxy, role, "modal")


def write_moods(state: RuleState, root: Word) -> None:
    """``:mode imperative`` with ``you``, ``:polarity (a / amr-unknown)`` for yes/no questions."""
    core = state.core_of(root)
    if core is None:
        return
    if root.lower in {"thank", "thanks"} and state.draft.nodes[core].concept == "thank-01":
        known = state.draft.roles(core)
        for role, concept in (("ARG0", "i"), ("ARG1", "you")):
            if role not in known:
                person = state.draft.concept(concept, None, "imperative", root.sentence)
                state.draft.link(core, role, person, "thanks")
    orders = [kid for kid in root.children("ccomp", "conj", "parataxis") if kid.tag == "VB"]
    for word in (root, *(kid for kid in orders if kid.dep != "conj" or _is_imperative(root))):
        _write_order(state, word)
    for word in state.words:
        if word.lower == "please" and word.sentence == root.sentence and word.i != root.i and not word.kids:
            state.mark(core, "polite", "+", word.i, "please")
            break
    _write_question(state, root)


def _write_order(state: RuleState, word: Word) -> None:
    core, nodes = state.core_of(word), state.draft.nodes
    if core is None or not _is_imperative(word):
        return
    nodes[state.mark(core, "mode", "imperative", None, "imperative")].token = word.i
    if word.i not in state.proxies and "ARG0" not in state.draft.roles(core):
        you = state.draft.concept("you", None, "imperative", word.sentence)
        nodes[you].token = word.i
        state.draft.link(core, "ARG0", you, "imperative")


def _is_imperative(word: Word) -> bool:
    if (
        word.tag not in {"VB", "VBP"}
        or word.lemma == "thank"
        or (word.lemma == "be" and (word.lower != "be" or word.dep != "ROOT"))
        or word.child(*SUBJECTS, "csubj", "expl", "mark") is not None
        or any(aux.tag in {"MD", "TO"} or aux.lemma == "have" for aux in word.children("aux"))
    ):
        return False
    return word.tag == "VB" or word.dep == "ROOT"


def _write_question(state: RuleState, root: Word) -> None:
    """A question that expects agreement asks for it (*Don't you see?*); another asks for the polarity."""
    members = [word for word in state.words if word.sentence == root.sentence]
    tagged = any(word.dep == "tag" for word in members)
    if not tagged and not _asks(root, members):
        return
    draft, proxy = state.draft, state.proxy(root.i)
    core, outer = state.core[proxy], state.outer[proxy]
    denials = (arc.dep for arc in draft.arcs if arc.head == core and arc.role == "polarity")
    denial = next((dep for dep in denials if draft.nodes[dep].value == "-"), None)
    if not tagged and denial is not None:
        draft.drop(denial)
    if tagged or denial is not None:
        draft.concept("request-confirmation-91", None, "question", root.sentence, ARG1=outer)
        return
    if root.lemma in SPEECH and root.tag[:2] == "VB" and root.child("aux") is None:
        asked = root.child("ccomp")
        if asked is None or state.core_of(asked) is None:
            return
        proxy = state.proxy(asked.i)
        core, outer = state.core[proxy], state.outer[proxy]
    unknown = draft.concept("amr-unknown", None, "question", root.sentence)
    draft.link(outer if draft.nodes[outer].rule == "modal" else core, "polarity", unknown, "question")
    for word in members:
        if word.text.startswith("?"):
            draft.nodes[unknown].token = word.i


def _asks(root: Word, members: list[Word]) -> bool:
    """A question mark, or an auxiliary or *be* before the subject, and no question word."""
    if not any(word.text.startswith("?") for word in members[-3:]) and not opens_question(root):
        return False
    return not any(_is_main(word, root) for word in members if word.tag in {"WP", "WRB", "WDT", "WP$"})


def _is_main(word: Word, root: Word) -> bool:
    """Whether a question word belongs to the main clause."""
    head = word
    while True:
        if head.dep in {"relcl", "acl", "advcl", "ccomp"} and head.i != root.i:
            if head.dep != "ccomp" or head.head != root.i:
                return False
            return word.i < root.i or any(mark.text in _SPEECH_MARKS for mark in root.tree[root.i : word.i])
        if head.head == head.i:
            return True
        head = head.parent


_MARKS = frozenset({",", ".", "``", "''", ":", "-LRB-", "HYPH", "_SP"})
_LEADS = frozenset({"and", "or", "but", "so", "well", "now", "then"})


def opens_question(root: Word) -> bool:
    """Whether an auxiliary or *be* stands right before the subject, with nothing that puts it there.

    *do you like it*, *May I come in .*, *nice are you a nurse* are questions without a question mark;
    *So do I*, *Here is one*, *What a fool am I!* and *May you be happy* ask nothing.
    """
    subject, words = root.child(*SUBJECTS), root.tree
    if subject is None:
        return False
    verb = min((subject.i, *subject.kids)) - 1
    while verb > 0 and words[verb].lower in {"n't", "not"}:
        verb -= 1
    first = words[verb]
    inverts = first.tag == "MD" or first.lower in MODALS or first.lemma in {"do", "have", "be"}
    if verb == root.i:
        inverts = first.lemma == "be" and first.tag in {"VBP", "VBZ", "VBD"}
    elif first.head != root.i or first.dep not in {"aux", "auxpass"}:
        return False
    if verb < 0 or not inverts or (first.lower == "may" and subject.lower not in {"i", "we"}):
        return False
    members = [word for word in words if word.sentence == root.sentence]
    before = [word for word in members if word.i < verb]
    so = before and before[-1].lower == "so" and verb == root.i
    if so or any(word.text.startswith("!") for word in members[-2:]):
        return False
    return all(word.lower in _LEADS or word.tag in _MARKS or word.tag in {"UH", "JJ"} for word in before)


_MEASURES = word_map("measure")
_CLAUSES = frozenset({"ROOT", "relcl", "acl", "advcl", "ccomp", "xcomp", "pcomp", "csubj", "parataxis"})


def write_question_words(state: RuleState) -> None:
    """Writes a node for each question word that stands for something."""
    for word in state.words:
        if word.tag in {"WP", "WDT", "WP$", "WRB"} and word.i not in state.done:
            clause = clause_of(word)
            head = clause.parent
            # Direct speech: a complement before its verb, or one of *say*, *ask*, … without a mark.
            quoted = clause.i < head.i or head.lemma in {"say", "ask", "reply", "demand", "cry"}
            direct = clause.dep in {"ROOT", "conj", "parataxis"} or (clause.dep == "ccomp" and quoted)
            asked = direct and _is_asked(clause)
            if word.lower in word_class("wh-pronoun"):
                if clause.dep not in {"relcl", "acl"} or word.lower == "what":
                    _write_pronoun(state, word, asked, direct)
            elif word.lower in {"where", "when", "why", "how"}:
                _write_adverb(state, word, asked, direct)
            state.done.add(word.i)


def _write_pronoun(state: RuleState, word: Word, asked: bool, direct: bool) -> None:
    if asked or (direct and word.lower == "what" and word.dep not in {"det", "predet"}):
        state.add("amr-unknown", word.i, "question")
    elif not direct and word.lower in {"what", "whatever"} and word.dep != "det":
        state.add("thing", word.i, "free-relative")
    elif not direct and word.lower in {"who", "whom", "whoever"}:
        state.add("person", word.i, "free-relative")


def _write_adverb(state: RuleState, word: Word, asked: bool, direct: bool) -> None:
    """*How many came?* asks for the amount; of *I know how many came* the amount is a thing."""
    measured = word.parent
    if asked:
        if word.lower == "how" and measured.lower in _MEASURES and measured.dep != "acomp":
            _write_measure(state, word, "amr-unknown", "question")
        elif word.lower != "why":
            state.add("amr-unknown", word.i, "question")
    elif word.lower == "how" and not direct and measured.lower in {"many", "much"}:
        if measured.i not in state.core and measured.i not in state.done:
            _write_measure(state, word, "thing", "free-relative")
    elif word.lower == "how" and measured.tag[:2] in {"JJ", "RB"} and direct:
        state.add("so", word.i, "exclamation")


def _write_measure(state: RuleState, how: Word, concept: str, rule: str) -> None:
    measured = how.parent
    state.add(concept, measured.i, rule)
    state.done.update((how.i, measured.i))
    if measured.dep not in {"dobj", "nsubj", "nsubjpass", "attr"}:
        state.forms[measured.i] = _MEASURES[measured.lower]


def write_whys(state: RuleState) -> None:
    """*Why …?*: ``cause-01 :ARG0 (a / amr-unknown)`` over the clause; *Why?* and *Why not?* stand alone."""
    for word in state.words:
        if word.lower != "why" or word.i not in state.done or word.i in state.core:
            continue
        clause, after = clause_of(word), word.following
        proxy = state.proxy(clause.i)
        if clause.i == word.i or (clause.lower == "not" and clause.head == clause.i):
            node = state.add("cause-01", word.i, "why", ARG0="amr-unknown")
            if after is not None and after.lower == "not" and after.i not in state.core:
                state.mark(node, "polarity", "-", after.i, "negation")
        elif clause.dep not in {"relcl", "advcl"} and proxy in state.core:
            node = state.above("cause-01", word.i, proxy, "ARG1", "why")
            concept = "amr-unknown" if _is_asked(clause) else "thing"
            state.draft.link(node, "ARG0", state.draft.concept(concept, word.i, "why"), "why")


def clause_of(word: Word) -> Word:
    """The head of the clause that a question word asks about."""
    asking = word
    while word.head != word.i:
        fronted = word.dep in {"ccomp", "xcomp"} and asking.i < word.head
        joined = word.tag[:2] == "VB" and word.dep in {"conj", "pobj"}
        if joined or (word.dep in _CLAUSES and not fronted):
            break
        word = word.parent
    return word


def _is_asked(clause: Word) -> bool:
    """Whether a question mark follows in the sentence."""
    rest = clause.tree[clause.i :]
    return any("?" in word.text for word in rest if word.sentence == clause.sentence)


_INNER_NEGATION = word_class("inner-negation")
"""Modals whose *not* belongs to the verb: *must not* obliges one not to, *should not* advises one not to."""
_AMOUNTS = frozenset({"very", "much", "many", "altogether", "entirely", "completely", "all"})
_COUNTING = frozenset({"every", "all", "even", "everyone", "everybody", "everything"})


def write_negation(state: RuleState) -> None:
    """``:polarity -`` for each negative word that is no concept of its own."""
    for word in state.words:
        target, rule = _denied_by(state, word)
        if target is not None:
            state.mark(target, "polarity", "-", word.i, rule)
            if rule == "negation" or (rule == "no" and word.dep == "neg"):
                _deny_joined(state, word, target)


def _denied_by(state: RuleState, word: Word) -> tuple[int | None, str]:
    """The node that a word denies, and the rule that says so."""
    after = word.following
    if word.lemma in {"not", "n't", "nt"} and word.tag in {"RB", "CC", "DT"} and word.i not in state.core:
        if after is not None and after.lower in {"only", "merely"}:
            return None, ""
        if after is not None and after.lower in _AMOUNTS and after.i in state.core:
            # *not very good*, *not many people*: less than that, not its contrary.
            over = after.parent
            beside = after.dep in {"advmod", "amod", "nummod"} and over.tag[:2] in {"JJ", "RB", "NN"}
            if beside and over.i > after.i:
                return state.core[after.i], "negation"
        return _denied_clause(state, word), "negation"
    if word.lower == "never" and word.i in state.core:
        return _denied_clause(state, word), "never"
    head = word.parent
    if word.lower == "no" and word.i not in state.core and word.i not in state.done:
        # It denies a comparison, the verb of a subject, *have* of its object, else the noun.
        if head.tag in {"JJR", "RBR"} and word.i < head.i:
            while head.lower in {"more", "less"} and head.parent.tag[:2] in {"JJ", "RB"}:
                head = head.parent
            return state.core_of(head), "no"
        beside = word.tag == "DT" and word.dep in {"det", "neg"}
        return _denied_by_phrase(state, head) if beside else None, "no"
    if word.lower in {"none", "neither"}:
        # *none of them came*, *neither he nor she came*: what they do is denied.
        if word.dep in {"preconj", "det", "cc"} and word.lower == "neither":
            return _denied_by_phrase(state, head) if head.tag[:2] in {"NN", "PR"} else None, "none"
        deferred = word.i in state.proxies and word.dep in {*SUBJECTS, "dobj"}
        return state.core_of(head) if deferred else None, "none"
    inner = word.child("pobj", "pcomp") if word.lower == "without" else None
    return (None if inner is None else state.core_of(inner)), "without"


def _denied_clause(state: RuleState, word: Word) -> int | None:
    """The modal where that is what *not* denies, else the predicate."""
    head, after = word.parent, word.following
    if head.lower in {"so", "too", "as", "that", "quite", "really"} and head.dep == "advmod":
        head = head.parent
    ought = head.child("xcomp") if head.lemma == "ought" else None
    if ought is not None:
        head = ought
    elif head.dep in SUBJECTS and head.i > word.i and after is not None and after.lower in _COUNTING:
        head = head.parent
    proxy = state.proxy(head.i)
    if proxy == word.i:
        return None
    for modal in head.children("aux"):
        if modal.lemma in MODALS and modal.lemma not in _INNER_NEGATION and proxy in state.outer:
            outer = state.outer[proxy]
            return outer if state.draft.nodes[outer].concept == MODALS[modal.lemma][0] else state.core[proxy]
    return state.persons.get(proxy, state.core.get(proxy))


def _deny_joined(state: RuleState, word: Word, target: int) -> None:
    """*is not singing and playing* denies both, but no verb with a subject or auxiliary of its own."""
    verb = word.parent
    if target != state.core.get(verb.i) or verb.child_word("cc", "and", "or") is None:
        return
    for other in verb.children("conj"):
        own = other.child("nsubj", "nsubjpass", "expl", "aux", "auxpass", "neg")
        alike = other.tag[:2] == "VB" and (other.tag == verb.tag or {other.tag, verb.tag} == {"VB", "VBP"})
        if own is None and alike and other.i in state.core:
            state.mark(state.core[other.i], "polarity", "-", None, "negation")


def _denied_by_phrase(state: RuleState, noun: Word) -> int | None:
    verb = noun.parent
    denies = noun.dep in SUBJECTS or (noun.dep == "dobj" and verb.lemma == "have")
    return state.core_of(verb if denies and state.core_of(verb) is not None else noun)
