"""Correct frequent errors of spaCy's dependency parser before other rules use its trees.

spaCy's models are trained on news and web text. They often misparse constructions that are frequent in
dialogues and captions. In *there is a dog running*, for example, *running* should be the root and *dog* its
subject. Each correction changes the heads, relations and tags of words in place. After each correction, the
words still form a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from graphneg.english.words import lemma_of, readings
from graphneg.parsers.dependency.lexicon import word_class
from graphneg.parsers.dependency.rules.state import QUOTES, SPEECH
from graphneg.parsers.dependency.text import Word

_COLOURS = word_class("colour")
_DETERMINERS = frozenset({"no", "a", "an", "some"})
_SUBJECTS = ("nsubj", "nsubjpass", "csubj", "expl")
"""Dependency relations of subjects, including clauses and expletives."""
_LONGEST_ASIDE = 9
"""Maximum length in words of an insertion such as *he said* within a quotation."""
_TAGS = frozenset({"right", "huh", "eh", "okay", "ok", "yeah"})
"""Words that can form a question tag without an auxiliary: *…, right?*"""
_TURNS = word_class("turn")
"""Verbs after which *left* is a direction: *Turn left*."""


def correct_trees(words: Sequence[Word]) -> None:
    """Correct the heads, relations and tags of words, in place.

    If several corrections apply to a word, only the first correction is made.

    Args:
        words: The words of the text.
    """
    for word in words:
        for concerns, correct in _CORRECTIONS:
            if concerns(word):
                correct(word)
                break


def _attach(word: Word, head: Word, dep: str) -> None:
    """Make a word depend on a head. If the head is the word itself, the word becomes a root."""
    if word.head != word.i:
        word.parent.dependents.remove(word.i)
    word.head, word.dep = head.i, dep
    if head is not word:
        head.dependents = sorted({*head.dependents, word.i})


def _put_in_place_of(over: Word, word: Word) -> None:
    """Attach a word to the head of another word, ``over``, with the relation of ``over``."""
    if over.head == over.i:
        _attach(word, word, "ROOT")
    else:
        _attach(word, over.parent, over.dep)


def reattach(word: Word, head: Word, dep: str) -> None:
    """Make a word depend on another word.

    If the new head is a descendant of the word, the new head is first attached in the word's place, so that
    no cycle arises.

    Args:
        word: The word to attach.
        head: The new head of the word.
        dep: The new relation of the word.
    """
    if is_below(head, word):
        _put_in_place_of(word, head)
    _attach(word, head, dep)


def promote(word: Word, over: Word) -> None:
    """Put a word in the place of an ancestor. The ancestor and its dependents then depend on the word.

    Nothing changes if the word is already above ``over``.

    Args:
        word: The word to move up.
        over: The ancestor, whose place the word takes.
    """
    if not is_below(over, word):
        _put_in_place_of(over, word)
        for kid in (*over.children(), over):
            _attach(kid, word, kid.dep)


def make_root(word: Word, former: Word, dep: str) -> None:
    """Make a word the root of its sentence. The former root then depends on the word.

    Args:
        word: The new root.
        former: The former root.
        dep: Relation of the former root to the new root.
    """
    _attach(word, word, "ROOT")
    _attach(former, word, dep)


def is_below(word: Word, above: Word) -> bool:
    """Return whether a word is a descendant of another word.

    Args:
        word: The possible descendant.
        above: The possible ancestor.

    Returns:
        True if following the heads from the word leads to the ancestor.
    """
    while word.head != word.i:
        word = word.parent
        if word is above:
            return True
    return False


def _retag(word: Word, tag: str, pos: str, lemma: str | None = None) -> None:
    word.tag, word.pos, word.lemma = tag, pos, lemma_of(word.lower, tag) if lemma is None else lemma


def _correct_existence(be: Word) -> None:
    """Make the participle the root of an existential sentence, as in *there is a dog running*."""
    there = next((kid for kid in be.children("expl") if kid.tag == "EX"), None)
    noun = be.child("attr")
    if there is None or noun is None:
        return
    # In "there is no panda climbing", spaCy may read "panda climbing" as a compound noun. Then split it.
    if _is_participle(noun):
        _split_compound(be, noun)
    elif noun.tag[:2] == "NN":
        _attach_participle(noun)
        verb = next(_verbs_of(be, noun), None)
        if verb is not None:
            _make_subject(be, noun, verb)


def _verbs_of(be: Word, noun: Word) -> Iterator[Word]:
    """Yield participles such as *running* in *there is a dog running*, the most likely one first.

    Args:
        be: The verb *is*.
        noun: The noun to which the participle may belong, such as *dog*.
    """
    # In "there is a dog running" and "a dog being washed", the participle depends on the noun.
    for kid in noun.children("acl"):
        if kid.tag == "VBG" or any(aux.lower == "being" for aux in kid.children()):
            yield kid
    for kid in be.children("attr", "advcl", "acomp", "xcomp", "ccomp"):
        # In "there is a dog running", spaCy may attach "running" to "is" instead of "dog". Skip participles
        # after a comma, which start another clause.
        apart = any(between.tag in {",", ":"} for between in be.tree[noun.i : kid.i])
        if kid.i > noun.i and kid.tag == "VBG" and not apart:
            yield kid
    # In "there is no man in a hat dancing", spaCy may attach the participle to "hat" instead of "man".
    if any(kid.lower == "no" for kid in noun.children()):
        for word in noun.subtree():
            above = word.parent
            inside = above.dep == "pobj" and above.parent.head == noun.i
            if (word.tag, word.dep) == ("VBG", "acl") and inside:
                yield word


def _make_subject(be: Word, noun: Word, verb: Word) -> None:
    """Change the tree of *there is no man running* into the tree of *no man is running*.

    The verb becomes the root, the noun its subject, and *no* its negation.
    """
    no = next((kid for kid in noun.children() if kid.lower == "no"), None)
    # In "there is no man in a hat dancing", spaCy may attach "dancing" to "hat". Attach "dancing" to "man"
    # first. Below, it becomes the root.
    if verb.head not in {noun.i, be.i}:
        reattach(verb, noun, "acl")
    promote(verb, be)
    if noun.head != verb.i:
        reattach(noun, verb, "nsubj")
    noun.dep = "nsubj" if verb.tag == "VBG" else "nsubjpass"
    be.dep = "aux"
    # "There is no man running" means that no man runs, so "no" negates the verb.
    if no is not None:
        reattach(no, verb, "neg")


def _is_participle(word: Word) -> bool:
    """Return whether a word is a participle, even if tagged as a noun: *dancing*, but not *building*."""
    if word.tag != "NN" or not word.lower.endswith("ing"):
        return word.tag == "VBG"
    # "building" is also a noun in the dictionary, so it does not count as a participle.
    known = readings(word.lower)
    return "VERB" in known and "NOUN" not in known


def _split_compound(be: Word, doing: Word) -> None:
    """Separate a participle from the noun before it: spaCy may read *panda climbing* as a compound."""
    noun = doing.tree[doing.i - 1]
    beside = noun.head == doing.i or (noun.head == be.i and noun.dep == "attr")
    if not beside or noun.tag[:2] != "NN":
        return
    # In "no panda climbing", the determiner "no" shows that "panda" is the head of the phrase. Without a
    # determiner, as in "rock climbing", the words may be a real compound.
    if any(kid.lower in _DETERMINERS and kid.i < noun.i for kid in doing.children() + noun.children()):
        for kid in doing.children():
            if kid.i < noun.i:
                reattach(kid, noun, kid.dep)
        _retag(doing, "VBG", "VERB")
        _make_subject(be, noun, doing)


def _attach_participle(noun: Word) -> None:
    """Attach a participle to the noun that it describes.

    In *there is a girl in a pub singing*, *singing* belongs to *girl*, but spaCy attaches it after *pub*.
    """
    for preposition in noun.children("prep"):
        for doing in preposition.children("pobj"):
            location = doing.tree[doing.i - 1]
            inner = [kid for kid in doing.children() if kid.i < location.i]
            # In "a girl in a pub singing", the determiner shows that "pub singing" is no compound, so correct
            # the tree. Without a determiner, it may be one ("in choir singing"). Colours of clothes ("a girl
            # in white singing") need no determiner.
            named = location.tag[:2] == "NN" and any(kid.dep in {"det", "poss"} for kid in inner)
            if _is_participle(doing) and location.head == doing.i and (named or location.lower in _COLOURS):
                for kid in inner:
                    reattach(kid, location, kid.dep)
                reattach(location, preposition, "pobj")
                reattach(doing, noun, "acl")
                _retag(doing, "VBG", "VERB")


def _correct_quotation(said: Word) -> None:
    _correct_inversion(said)
    _correct_aside(said)
    content = next((kid for kid in said.children("ccomp") if kid.i < said.i), None)
    if content is None:
        _make_complement(said)
    else:
        _join_resumed(said, content)


def _correct_inversion(said: Word) -> None:
    """Make the noun after the verb the subject, as in *"…" asked the prince*."""
    kids, before = said.children(), said.previous
    early = next((kid for kid in kids if kid.dep in _SUBJECTS and kid.i < said.i), None)
    other = next((kid for kid in kids if kid.dep == "nsubj" and kid.i > said.i), None)
    late = next((kid for kid in kids if kid.dep == "dobj" and kid.i > said.i), None)
    # In '"Draw," asked the prince', spaCy may find two subjects, "Draw" and "prince". The prince asks "Draw",
    # so make "Draw" the object.
    if early is not None and other is not None:
        early.dep = "dobj"
    # spaCy may also take "Draw" for the only subject of "asked", and "the prince" for its object. Then make
    # "the prince" the subject.
    elif early is not None and late is not None and before is not None and before.text in QUOTES:
        early.dep, late.dep = "ccomp", "nsubj"
    elif before is not None and not any(kid.dep in {*_SUBJECTS, "aux"} for kid in kids):
        asked = before.text in {",", "?", "!"} and any(kid.i < said.i for kid in said.children("ccomp"))
        if (before.text in QUOTES or asked) and late is not None and said.tag in {"VBD", "VBZ"}:
            late.dep = "nsubj"


def _contains_quotation_mark(words: Sequence[Word]) -> bool:
    return any(word.text in QUOTES for word in words)


def _join_resumed(said: Word, content: Word) -> None:
    """Join the second part of a quotation to the first part, as in *"…", he said, "and …"*."""
    for kid in said.children("conj", "parataxis", "ccomp"):
        between = said.tree[said.i + 1 : min([kid.i, *kid.dependents]) + 1]
        if kid.i > said.i and kid.tag[:2] in {"VB", "MD"} and _contains_quotation_mark(between):
            reattach(kid, content, "conj")
            for conjunction in said.children("cc"):
                if conjunction.i > said.i:
                    reattach(conjunction, content, "cc")


def _make_complement(said: Word) -> None:
    """Make a quotation the complement of *said* instead of its conjunct: *"Yes," he said, "but I can."*."""
    for kid in said.children("conj"):
        quoted = _contains_quotation_mark(said.tree[said.i + 1 : kid.i])
        # Without a quotation mark before it, the second verb is a real conjunct: "did" in "He said and did
        # much".
        if kid.child(*_SUBJECTS) is not None and quoted and kid.tag[:2] in {"VB", "MD"}:
            kid.dep = "ccomp"
            for conjunction in said.children("cc"):
                if said.i < conjunction.i < kid.i:
                    reattach(conjunction, kid, "cc")
            return


def _correct_aside(said: Word) -> None:
    """Make *said* the root if it interrupts a quotation, as in *"This man," he said, "is busy."*."""
    if said.dep not in {"parataxis", "ccomp", "advcl", "dep"} or said.tag not in {"VBD", "VBZ", "VBP"}:
        return
    words = said.tree
    subject = next((kid for kid in reversed(said.children()) if kid.dep in _SUBJECTS), None)
    root = said
    while root.head != root.i:
        root = root.parent
    if subject is None or root.tag in QUOTES:
        return
    first = min([said.i, subject.i, *subject.dependents])
    closing = first > 0 and words[first - 1].text in QUOTES
    after = range(max(said.i, subject.i) + 1, min(said.i + _LONGEST_ASIDE, len(words)))
    opening = any(words[k].text in QUOTES and words[k - 1].text in {",", ".", ":"} for k in after)
    # The quotation closes before "he said" and opens again shortly after it, so "he said" interrupts it.
    if closing and opening:
        before = [kid for kid in said.children("npadvmod", "nsubj", "advmod", "intj", "cc") if kid.i < first]
        make_root(said, root, "ccomp")
        for kid in before:
            # spaCy may attach "This man" to "said" as an adverbial noun phrase. "This man" must become the
            # subject of the quoted verb "is".
            free = root.child(*_SUBJECTS) is None
            reattach(kid, root, "nsubj" if kid.dep == "npadvmod" and free else kid.dep)


def _correct_there(word: Word) -> None:
    """Make a capitalised *There* an expletive or an adverb instead of a name."""
    after = word.following or word
    # After a capitalised word, taggers take "There" for a part of a name. It is an expletive in "Good morning
    # Class There is a test", and an adverb in "I saw Class There yesterday".
    if after.lemma == "be" and after.tag[:2] == "VB" and word.head != word.i and not word.dependents:
        _retag(word, "EX", "PRON", "there")
        reattach(word, after, "expl")
    else:
        _retag(word, "RB", "ADV", "there")


def _correct_like(word: Word) -> None:
    """Make *like* a verb if it has a subject, as in *I like it*."""
    if word.child(*_SUBJECTS) is not None:
        word.tag, word.pos = "VBP", "VERB"


def _correct_seeming(seem: Word) -> None:
    """Make the subject of *seem* the subject of its complement, as in *She seemed tired*."""
    subject = seem.child("nsubj")
    state = next((kid for kid in seem.children("oprd", "acomp") if kid.tag[:2] in {"JJ", "VB"}), None)
    # "She seems tired" means that it seems that she is tired, so "tired" becomes a clause below "seem", with
    # "she" as its subject.
    if subject is not None and state is not None:
        reattach(subject, state, "nsubj" if state.tag[:2] == "JJ" else "nsubjpass")
        state.dep = "ccomp"


def _correct_title(word: Word) -> None:
    """Tag a capitalised common noun as a noun and not as a name, as in *my Ambassador* or *a Minister*."""
    before = word.tree[word.i - 1]
    after = word.following or before
    # In "a Minister", the noun is not part of a name. In "my Uncle Tom", a name follows, so "Uncle" is part
    # of the name.
    alone = before.lower in word_class("title-determiner") and after.tag not in {"NNP", "NNPS", "CD"}
    if alone and word.text[1:].islower() and "NOUN" in readings(word.lower):
        _retag(word, "NNS" if word.tag == "NNPS" else "NN", "NOUN")


def _correct_for(word: Word) -> None:
    """Make *for* a conjunction if it has no object, as in *He left, for he was tired*."""
    if any(kid.tag[:2] in {"NN", "PR", "DT", "VB", "CD"} for kid in word.children("pobj", "pcomp")):
        return
    subject = next((later for later in word.tree[word.i + 1 :] if later.dep in _SUBJECTS), None)
    # The subject must belong to the clause of "for". In "What for? He left", "he" does not.
    between = word.tree[word.i + 1 : subject.i] if subject is not None else ()
    if subject is None or any(later.tag[:2] == "VB" or later.tag in {".", ":"} for later in between):
        return
    verb = subject.parent
    # In "for him to go", the verb is an infinitive, so "for" remains a preposition.
    if verb.tag[:2] == "VB" and verb.i >= subject.i and not any(kid.tag == "TO" for kid in verb.children()):
        if verb.dep == "conj":
            verb.dep = "advcl"
        reattach(word, verb, "mark")


def _correct_direction(left: Word) -> None:
    """Make *left* an adverb of direction instead of a form of *leave*, as in *Turn left*."""
    turn = left.tree[left.i - 1]
    verb = lemma_of(turn.lower, "VBD")
    named = turn.child("det", "poss", "amod", "compound") is not None
    # Exclude "the left turn", in which "left" is an adjective and "turn" is a noun with a determiner.
    if left.dep == "amod" or not left.i or verb not in _TURNS or turn.tag[:2] not in {"VB", "NN"} or named:
        return
    # Taggers may tag "Turn" at the start of a sentence as a noun. Correct the tag to a verb.
    if turn.tag[:2] == "NN":
        _retag(turn, "VB", "VERB", verb)
    if turn.head == left.i:
        promote(turn, left)
    elif left.head != turn.i:
        reattach(left, turn, "advmod")
    for kid in left.children():
        reattach(kid, turn, kid.dep)
    _retag(left, "RB", "ADV", "left")
    left.dep = "advmod"


def _correct_joined_verb(word: Word) -> None:
    """Tag a word as a verb if it is joined to an infinitive, as in *can sing or dance*."""
    first, known = word.parent, readings(word.lower)
    if word.i - 2 != first.i or first.tag != "VB" or "VERB" not in known:
        return
    # Two verbs are joined only if the first verb has an auxiliary ("can"). Do not change adjectives, as in
    # "can be quick or slow".
    if not (word.tag == "JJ" and "ADJ" in known) and first.child("aux") is not None:
        _retag(word, "VB", "VERB")


def _correct_tag(mark: Word) -> None:
    """Detach a question tag such as *…, isn't it?*, so that the verb of the main clause is the root again."""
    words, end = mark.tree, mark.i
    start = end - 1
    while start > 0 and words[start].text != "," and end - start < 5:
        start -= 1
    tag = words[start + 1 : end]
    if words[start].text != "," or not 1 <= len(tag) <= 3:
        return
    # A question tag is "…, right?", or an auxiliary with a pronoun as in "…, isn't it?" and "…, can you?"
    if tag[0].lower not in _TAGS and not (tag[0].lower in word_class("auxiliary") and tag[-1].tag == "PRP"):
        return
    for word in tag:
        clause = next((kid for kid in word.children("ccomp", "parataxis") if kid.i < start), None)
        if word.head == word.i and clause is not None:
            _make_main(clause, word)
    # Mark the words of the question tag by the relation `tag`, which the rules for questions look for.
    if all(word.head != word.i for word in tag):
        for word in tag:
            word.tag, word.dep = "_SP", "tag"


def _correct_colours(word: Word) -> None:
    """Attach both colours of *black and white dog* to *dog*, if the parser linked *white* to *black*."""
    first = word.parent
    if first.lower in _COLOURS and first.dep == "amod":
        for kid in first.children("cc", "conj"):
            reattach(kid, first.parent, "amod" if kid.dep == "conj" else "punct")


def _correct_result(so: Word) -> None:
    """Make the clause before *so* the main clause, as in *I was tired, so I left*."""
    result = so.parent
    if result.head != result.i or so.i > result.i or result.tag[:2] not in {"VB", "MD"}:
        return
    before = next((kid for kid in result.children("ccomp") if kid.i < so.i), None)
    # In 'He said, "So I left"', "so" begins a quotation and does not link two clauses. So do nothing if there
    # is a quotation mark before "so".
    if before is not None and not _contains_quotation_mark(so.tree[before.i : so.i]):
        _make_main(before, result)
        result.dep, so.dep, so.tag = "advcl", "mark", "IN"


def _make_main(clause: Word, root: Word) -> None:
    """Make a clause the root of its sentence, and attach the words before it and all punctuation to it."""
    for kid in root.children():
        if kid is not clause and (kid.i < clause.i or kid.dep == "punct"):
            reattach(kid, clause, kid.dep)
    make_root(clause, root, "dep")


_CORRECTIONS: tuple[tuple[Callable[[Word], bool], Callable[[Word], None]], ...] = (
    (lambda word: word.lower == "there" and word.tag[:2] == "NN", _correct_there),
    (lambda word: word.lemma in SPEECH and word.tag[:2] == "VB", _correct_quotation),
    (lambda word: word.lower == "like" and word.tag == "IN", _correct_like),
    (lambda word: word.lemma == "be" and word.tag[:2] == "VB", _correct_existence),
    (lambda word: word.dep == "conj" and word.lower in _COLOURS, _correct_colours),
    (lambda word: word.lower == "so" and word.tag in {"RB", "IN", "CC"}, _correct_result),
    (lambda word: word.lower == "left" and word.tag[:2] in {"VB", "JJ"}, _correct_direction),
    (
        lambda word: word.dep == "conj" and word.tag in {"NN", "JJ"} and not word.dependents,
        _correct_joined_verb,
    ),
    (lambda word: word.lemma in {"seem", "appear"} and word.tag[:2] == "VB", _correct_seeming),
    (lambda word: word.tag in {"NNP", "NNPS"} and word.i > 0, _correct_title),
    (lambda word: word.lower == "for" and word.tag == "IN" and word.dep == "prep", _correct_for),
    (lambda word: word.text == "?", _correct_tag),
)
"""Pairs of a condition on a word and the correction to make, sorted by priority, highest first."""
