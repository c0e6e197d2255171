"""What stands over or beside a clause: modals, moods, questions, and question words.

In: a `RuleState` whose words have their concepts. Out: ``possible-01`` over *can*, ``:mode imperative`` at
orders, ``amr-unknown`` where something is asked.
"""

from __future__ import annotations

from graphneg.parsers.dependency.lexicon import word_class, word_map, word_pairs
from graphneg.parsers.dependency.rules.state import SPEECH, SUBJECTS, RuleState
from graphneg.parsers.dependency.words import Word

MODALS = word_pairs("modal")
_SPEECH_MARKS = frozenset({":", '"', "``", "\u201c"})
_WISHED = frozenset({"like", "love", "prefer", "say", "think"})


def write_modals(state: RuleState) -> None:
    """``possible-01``, ``obligate-01``, ``recommend-01`` over the verb of a modal."""
    for word in state.words:
        if word.tag == "MD" and word.dep == "aux" and word.lemma in MODALS:
            proxy = state.proxy(word.head)
            wish = word.lower == "should" and word.parent.lemma in _WISHED
            if proxy in state.outer and not wish:
                concept, role = MODALS[word.lemma]
                state.above(concept, word.i, proxy, role, "modal")
        elif word.i not in state.core:
            continue
        elif word.lemma == "have":
            _write_have_to(state, word)
        elif word.lower in {"maybe", "perhaps"}:
            if word.dep == "advmod" and state.proxy(word.head) != word.i:
                _put_over_head(state, word, "possible-01")
        elif word.lower == "better" and word.dep == "advmod":
            had = any(aux.lower in {"'d", "had"} and aux.i < word.i for aux in word.parent.children("aux"))
            if had and word.i < word.head:
                _put_over_head(state, word, "recommend-01")
        elif word.lower == "able":
            verb = word.child("xcomp")
            if verb is not None and state.core_of(verb) is not None:
                _rename(state, word, "possible-01", "able")


def _write_have_to(state: RuleState, word: Word) -> None:
    """*You have to go*: ``obligate-01``; *You have a book to read* is none."""
    verb = word.child("xcomp")
    if verb is None or not verb.is_infinitive or word.child("dobj") is not None:
        return
    if state.core_of(verb) is not None:
        _rename(state, word, "obligate-01", "modal")


def _rename(state: RuleState, word: Word, concept: str, rule: str) -> None:
    node = state.draft.nodes[state.core[word.i]]
    node.concept, node.rule = concept, rule


def _put_over_head(state: RuleState, word: Word, concept: str) -> None:
    """*Maybe he left*, *You'd better stay*: the adverb's node stands over the clause."""
    proxy = state.proxy(word.head)
    if proxy in state.outer:
        state.erase(word.i)
        state.above(concept, word.i, proxy, "ARG1", "modal")


# Moods: orders, thanks, *please*, and questions without a question word.


def write_moods(state: RuleState, root: Word) -> None:
    """``:mode imperative`` with ``you``, ``:polarity (a / amr-unknown)`` for yes/no questions."""
    core = state.core_of(root)
    if core is None:
        return
    _write_thanks(state, root, core)
    orders = [kid for kid in root.children("ccomp", "conj", "parataxis") if kid.tag == "VB"]
    for word in (root, *(kid for kid in orders if kid.dep != "conj" or _is_imperative(root))):
        _write_order(state, word)
    for word in state.words:
        if word.lower == "please" and word.sentence == root.sentence and word.i != root.i and not word.kids:
            state.mark(core, "polite", "+", word.i, "please")
            break
    _write_question(state, root)


def _write_order(state: RuleState, word: Word) -> None:
    core = state.core_of(word)
    if core is None or not _is_imperative(word):
        return
    mode = state.mark(core, "mode", "imperative", None, "imperative")
    state.draft.nodes[mode].token = word.i
    if word.i not in state.proxies and "ARG0" not in state.draft.roles(core):
        you = state.draft.concept("you", None, "imperative", word.sentence)
        state.draft.nodes[you].token = word.i
        state.draft.link(core, "ARG0", you, "imperative")


def _write_thanks(state: RuleState, root: Word, node: int) -> None:
    """*Thank you*, *Thanks*: I thank you."""
    if root.lower not in {"thank", "thanks"} or state.draft.nodes[node].concept != "thank-01":
        return
    known = state.draft.roles(node)
    for role, concept in (("ARG0", "i"), ("ARG1", "you")):
        if role not in known:
            person = state.draft.concept(concept, None, "imperative", root.sentence)
            state.draft.link(node, role, person, "thanks")


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
    """A question that expects agreement asks for it; another asks for the polarity."""
    tagged = any(word.dep == "tag" and word.sentence == root.sentence for word in state.words)
    if not tagged and not _asks(state, root):
        return
    draft, asked = state.draft, root
    if tagged or _drop_negation(state, state.core[state.proxy(root.i)]):
        node = draft.concept("request-confirmation-91", None, "question", root.sentence)
        draft.link(node, "ARG1", state.outer[state.proxy(root.i)], "question")
        return
    if root.lemma in SPEECH and root.tag[:2] == "VB" and root.child("aux") is None:
        quote = root.child("ccomp")
        if quote is None or state.core_of(quote) is None:
            return
        asked = quote
    unknown = draft.concept("amr-unknown", None, "question", root.sentence)
    core, outer = state.core[state.proxy(asked.i)], state.outer[state.proxy(asked.i)]
    draft.link(outer if draft.nodes[outer].rule == "modal" else core, "polarity", unknown, "question")
    for word in state.words:
        if word.sentence == root.sentence and word.text.startswith("?"):
            draft.nodes[unknown].token = word.i


def _drop_negation(state: RuleState, node: int) -> bool:
    """*Don't you see?* asks for agreement: its negation goes; tells whether there was one."""
    for arc in state.draft.arcs:
        if arc.head == node and arc.role == "polarity" and state.draft.nodes[arc.dep].value == "-":
            state.draft.drop(arc.dep)
            return True
    return False


def _asks(state: RuleState, root: Word) -> bool:
    """A question mark, or an auxiliary or *be* before the subject, and no question word."""
    members = [word for word in state.words if word.sentence == root.sentence]
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
    if verb < 0 or not _inverts(root, words[verb]):
        return False
    if words[verb].lower == "may" and subject.lower not in {"i", "we"}:
        return False
    members = [word for word in words if word.sentence == root.sentence]
    if any(word.text.startswith("!") for word in members[-2:]):
        return False
    before = [word for word in members if word.i < verb]
    if before and before[-1].lower == "so" and verb == root.i:
        return False
    return all(word.lower in _LEADS or word.tag in _MARKS or word.tag in {"UH", "JJ"} for word in before)


def _inverts(root: Word, verb: Word) -> bool:
    if verb.i == root.i:
        return verb.lemma == "be" and verb.tag in {"VBP", "VBZ", "VBD"}
    if verb.head != root.i or verb.dep not in {"aux", "auxpass"}:
        return False
    return verb.tag == "MD" or verb.lower in MODALS or verb.lemma in {"do", "have", "be"}


# Question words: ``amr-unknown`` in place, ``thing`` for what is no question, nothing for relatives.

_PRONOUNS = word_class("wh-pronoun")
_ADVERBS = frozenset({"where", "when", "why", "how"})
_MEASURES = word_map("measure")
_ARGUMENTS = frozenset({"dobj", "nsubj", "nsubjpass", "attr"})
_CLAUSES = frozenset({"ROOT", "relcl", "acl", "advcl", "ccomp", "xcomp", "pcomp", "csubj", "parataxis"})


def write_question_words(state: RuleState) -> None:
    """Writes a node for each question word that stands for something."""
    for word in state.words:
        if word.tag in {"WP", "WDT", "WP$", "WRB"} and word.i not in state.done:
            clause = clause_of(word)
            direct = clause.dep in {"ROOT", "conj", "parataxis"} or _is_quoted(clause)
            asked = direct and _is_asked(clause)
            if word.lower in _PRONOUNS:
                _write_pronoun(state, word, clause, asked, direct)
            elif word.lower in _ADVERBS:
                _write_adverb(state, word, asked, direct)
            state.done.add(word.i)


def _write_pronoun(state: RuleState, word: Word, clause: Word, asked: bool, direct: bool) -> None:
    if clause.dep in {"relcl", "acl"} and word.lower != "what":
        return
    if asked or (direct and word.lower == "what" and word.dep not in {"det", "predet"}):
        state.add("amr-unknown", word.i, "question")
    elif direct:
        return
    elif word.lower in {"what", "whatever"} and word.dep != "det":
        state.add("thing", word.i, "free-relative")
    elif word.lower in {"who", "whom", "whoever"}:
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
    if measured.dep not in _ARGUMENTS:
        state.forms[measured.i] = _MEASURES[measured.lower]


def write_whys(state: RuleState) -> None:
    """*Why …?*: ``cause-01 :ARG0 (a / amr-unknown)`` over the clause."""
    for word in state.words:
        if word.lower == "why" and word.i in state.done and word.i not in state.core:
            clause = clause_of(word)
            proxy = state.proxy(clause.i)
            if clause.i == word.i or (clause.lower == "not" and clause.head == clause.i):
                _write_bare_why(state, word)
            elif clause.dep not in {"relcl", "advcl"} and proxy in state.core:
                node = state.above("cause-01", word.i, proxy, "ARG1", "why")
                concept = "amr-unknown" if _is_asked(clause) else "thing"
                state.draft.link(node, "ARG0", state.draft.concept(concept, word.i, "why"), "why")


def _write_bare_why(state: RuleState, word: Word) -> None:
    """*Why?*, *Why not?*"""
    node = state.add("cause-01", word.i, "why")
    state.draft.link(node, "ARG0", state.draft.concept("amr-unknown", word.i, "why"), "why")
    after = word.following
    if after is not None and after.lower == "not" and after.i not in state.core:
        state.mark(node, "polarity", "-", after.i, "negation")


def clause_of(word: Word) -> Word:
    """The head of the clause that a question word asks about."""
    asking = word
    while word.head != word.i:
        fronted = word.dep in {"ccomp", "xcomp"} and asking.i < word.head
        if word.dep in _CLAUSES and not fronted:
            break
        if word.tag[:2] == "VB" and word.dep in {"conj", "pobj"}:
            break
        word = word.parent
    return word


def _is_quoted(clause: Word) -> bool:
    """A complement before its verb, or one of *say* and *ask* without a mark of its own: direct speech."""
    head = clause.parent
    spoken = clause.i < head.i or head.lemma in {"say", "ask", "reply", "demand", "cry"}
    return clause.dep == "ccomp" and spoken


def _is_asked(clause: Word) -> bool:
    """Whether a question mark follows in the sentence."""
    rest = clause.tree[clause.i :]
    return any("?" in word.text for word in rest if word.sentence == clause.sentence)
