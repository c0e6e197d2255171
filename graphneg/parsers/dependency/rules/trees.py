"""Puts right what the dependency parser often gets wrong, before any rule reads its tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphneg.english.lemmas import lemma_of
from graphneg.english.words import readings
from graphneg.english.words import word_set_word_sets as word_set
from graphneg.parsers.dependency.draft import Word, subtree
from graphneg.parsers.dependency.rules.coordination import SPEECH
from graphneg.parsers.dependency.rules.sketch import COLOURS, MODALS, Sketch

# Changes of a dependency tree, in place: a word gets another head, or another's place. It stays a tree.


def retie(words: Sequence[Word], word: Word, head: int, dep: str) -> None:
    """Makes the word depend on another; one that is below the word takes the word's place first."""
    if is_below(words, words[head], word):
        _leave(words, words[head])
        _take_place(words, words[head], word)
    else:
        _leave(words, word)
    word.head, word.dep = head, dep
    words[head].kids = sorted({*words[head].kids, word.i})


def raise_over(words: Sequence[Word], word: Word, over: Word) -> None:
    """Puts ``word`` in the place of ``over``, which then hangs on it with the rest of what it had.

    A word that stands above ``over`` stays where it is.
    """
    if is_below(words, over, word):
        return
    _leave(words, word)
    _take_place(words, word, over)
    for k in over.kids:
        words[k].head = word.i
    word.kids = sorted({*word.kids, *over.kids, over.i} - {word.i})
    over.kids = []
    over.head = word.i


def crown(words: Sequence[Word], old: Word, new: Word) -> None:
    """Makes ``new`` the root, with the former root ``old`` as its clause."""
    _leave(words, new)
    new.head, new.dep = new.i, "ROOT"
    old.head, old.dep = new.i, "ccomp"
    new.kids = sorted({*new.kids, old.i})


def is_below(words: Sequence[Word], word: Word, above: Word) -> bool:
    """Whether the way up from a word leads to another."""
    while word.head != word.i:
        word = words[word.head]
        if word is above:
            return True
    return False


def _leave(words: Sequence[Word], word: Word) -> None:
    if word.head != word.i:
        words[word.head].kids.remove(word.i)


def _take_place(words: Sequence[Word], word: Word, over: Word) -> None:
    if over.head == over.i:
        word.head, word.dep = word.i, "ROOT"
    else:
        words[over.head].kids.remove(over.i)
        word.head, word.dep = over.head, over.dep
        words[over.head].kids = sorted({*words[over.head].kids, word.i})


# *There is no dog barking*: no dog is barking, however the dependency parser took *barking*.


_DETERMINERS = frozenset({"no", "a", "an", "some"})
_LOOSE = frozenset({"attr", "advcl", "acomp", "xcomp", "ccomp"})


def mend_existence(words: Sequence[Word], be: Word) -> None:
    """Changes heads and relations in place, where *be* says that somebody is there who does something."""
    there = next((words[k] for k in be.kids if words[k].dep == "expl" and words[k].tag == "EX"), None)
    noun = next((words[k] for k in be.kids if words[k].dep == "attr"), None)
    if there is None or noun is None:
        return
    if _is_doing(noun):
        _split_compound(words, be, noun)
        return
    if noun.tag[:2] != "NN":
        return
    _free_doing(words, noun)
    verb = next(_verbs(words, be, noun), None)
    if verb is not None:
        _let_do(words, be, noun, verb)


def _verbs(words: Sequence[Word], be: Word, noun: Word) -> Iterator[Word]:
    """What the noun may do, the surest first: its own participle, *be*'s, one behind the noun's phrase."""
    for k in noun.kids:
        if words[k].dep == "acl" and (words[k].tag == "VBG" or _has_being(words, words[k])):
            yield words[k]
    for k in be.kids:
        apart = any(words[i].tag in {",", ":"} for i in range(noun.i, k))
        if k > noun.i and words[k].dep in _LOOSE and words[k].tag == "VBG" and not apart:
            yield words[k]
    if any(words[k].lower == "no" for k in noun.kids):
        for i in sorted(subtree(words, noun.i)):
            over = words[words[i].head]
            is_behind = over.dep == "pobj" and words[over.head].head == noun.i
            if words[i].tag == "VBG" and words[i].dep == "acl" and is_behind:
                yield words[i]


def _let_do(words: Sequence[Word], be: Word, noun: Word, verb: Word) -> None:
    """The verb becomes the head, the noun its subject, and *no* denies what it does."""
    no = next((words[k] for k in noun.kids if words[k].lower == "no"), None)
    if verb.head not in {noun.i, be.i}:
        retie(words, verb, noun.i, "acl")
    raise_over(words, verb, be)
    if noun.head != verb.i:
        retie(words, noun, verb.i, "nsubj")
    noun.dep = "nsubj" if verb.tag == "VBG" else "nsubjpass"
    be.dep = "aux"
    if no is not None:
        retie(words, no, verb.i, "neg")


def _is_doing(word: Word) -> bool:
    """Whether the word is a participle that was taken for a noun: *dancing*, but no *building*."""
    known = readings(word.lower)
    return word.tag == "VBG" or (
        word.tag == "NN" and word.lower.endswith("ing") and "VERB" in known and "NOUN" not in known
    )


def _split_compound(words: Sequence[Word], be: Word, doing: Word) -> None:
    """*no panda climbing*: the panda is no kind of climbing, but climbs."""
    noun = words[doing.i - 1]
    if noun.head != doing.i and not (noun.head == be.i and noun.dep == "attr"):
        return
    articles = [k for k in (*doing.kids, *noun.kids) if words[k].lower in _DETERMINERS and k < noun.i]
    if noun.tag[:2] != "NN" or not articles:
        return
    for k in [k for k in doing.kids if k < noun.i]:
        retie(words, words[k], noun.i, words[k].dep)
    _make_participle(doing)
    _let_do(words, be, noun, doing)


def _free_doing(words: Sequence[Word], noun: Word) -> None:
    """*a girl in white dancing*, *a girl in a pub singing*: where she is, and what she does."""
    for preposition in [words[k] for k in noun.kids if words[k].dep == "prep"]:
        for doing in [words[k] for k in preposition.kids if words[k].dep == "pobj"]:
            place = words[doing.i - 1]
            inner = [words[k] for k in doing.kids if k < place.i]
            named = place.tag[:2] == "NN" and any(one.dep in {"det", "poss"} for one in inner)
            if _is_doing(doing) and place.head == doing.i and (named or place.lower in COLOURS):
                for one in inner:
                    retie(words, one, place.i, one.dep)
                retie(words, place, preposition.i, "pobj")
                retie(words, doing, noun.i, "acl")
                _make_participle(doing)


def _make_participle(word: Word) -> None:
    word.tag, word.pos, word.lemma = "VBG", "VERB", lemma_of(word.lower, "VBG")


def _has_being(words: Sequence[Word], verb: Word) -> bool:
    return any(words[k].lower == "being" for k in verb.kids)


# Puts right how the dependency parser ties what is said to the verb that says it.


_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "expl"})
_QUOTES = frozenset({'"', "\u201c", "\u201d", "''", "``"})
_ASIDE = frozenset({"parataxis", "ccomp", "advcl", "dep"})
_LONGEST_ASIDE = 9


def mend_quotation(words: Sequence[Word], said: Word) -> None:
    """Changes heads and relations around a verb of saying, in place."""
    _mend_inversion(words, said)
    _mend_aside(words, said)
    _mend_resumed(words, said)


def _mend_inversion(words: Sequence[Word], said: Word) -> None:
    """*"…" asked the prince*: what looks like an object is the subject."""
    kids = [words[k] for k in said.kids]
    early = next((one for one in kids if one.dep in _SUBJECTS and one.i < said.i), None)
    other = next((one for one in kids if one.dep == "nsubj" and one.i > said.i), None)
    if early is not None and other is not None:
        early.dep = "dobj"
        return
    late = next((one for one in kids if one.dep == "dobj" and one.i > said.i), None)
    if early is not None and late is not None and said.i and words[said.i - 1].text in _QUOTES:
        early.dep, late.dep = "ccomp", "nsubj"
        return
    if any(one.dep in _SUBJECTS or one.dep == "aux" for one in kids) or said.i == 0:
        return
    before = words[said.i - 1].text
    quoted = before in _QUOTES or (
        before in {",", "?", "!"} and any(k.dep == "ccomp" and k.i < said.i for k in kids)
    )
    after = next((one for one in kids if one.dep == "dobj" and one.i > said.i), None)
    if quoted and after is not None and said.tag in {"VBD", "VBZ"}:
        after.dep = "nsubj"


def _mend_resumed(words: Sequence[Word], said: Word) -> None:
    """*"…", he said, "and …"*: the second clause is joined to the first, not to *said*."""
    content = next((words[k] for k in said.kids if words[k].dep == "ccomp" and k < said.i), None)
    if content is None:
        _take_rest(words, said)
        return
    for k in list(said.kids):
        one = words[k]
        if one.dep in {"conj", "parataxis", "ccomp"} and one.i > said.i and one.tag[:2] in {"VB", "MD"}:
            first = min([one.i, *one.kids])
            between = words[said.i + 1 : first + 1]
            if any(mark.text in _QUOTES for mark in between):
                retie(words, one, content.i, "conj")
                for cc in [words[j] for j in said.kids if words[j].dep == "cc" and j > said.i]:
                    retie(words, cc, content.i, "cc")


def _take_rest(words: Sequence[Word], said: Word) -> None:
    """*"Yes," he said, "but I can come."*: what is joined to *said* behind the next mark is what he said."""
    for k in list(said.kids):
        one = words[k]
        own = any(words[j].dep in _SUBJECTS for j in one.kids)
        quoted = any(mark.text in _QUOTES for mark in words[said.i + 1 : k])
        if one.dep == "conj" and own and quoted and one.tag[:2] in {"VB", "MD"}:
            one.dep = "ccomp"
            for cc in [words[j] for j in said.kids if words[j].dep == "cc" and said.i < j < k]:
                retie(words, cc, k, "cc")
            return


def _mend_aside(words: Sequence[Word], said: Word) -> None:
    """*"This man," he said, "is busy."*: he said all of it, which the parser took for the main clause."""
    if said.dep not in _ASIDE or said.tag not in {"VBD", "VBZ", "VBP"}:
        return
    subject = next((words[k] for k in reversed(said.kids) if words[k].dep in _SUBJECTS), None)
    root = said
    while root.head != root.i:
        root = words[root.head]
    if subject is None or root.tag in _QUOTES:
        return
    first = min([said.i, subject.i, *subject.kids])
    closing = first > 0 and words[first - 1].text in _QUOTES
    after = range(max(said.i, subject.i) + 1, min(said.i + _LONGEST_ASIDE, len(words)))
    opening = any(words[k].text in _QUOTES and words[k - 1].text in {",", ".", ":"} for k in after)
    if closing and opening:
        inner = [
            k
            for k in said.kids
            if k < first and words[k].dep in {"npadvmod", "nsubj", "advmod", "intj", "cc"}
        ]
        crown(words, root, said)
        for k in inner:
            lacks = not any(words[j].dep in _SUBJECTS for j in root.kids)
            dep = "nsubj" if words[k].dep == "npadvmod" and lacks else words[k].dep
            retie(words, words[k], root.i, dep)


# Puts right what the dependency parser often gets wrong, before any rule reads it.


_TAGS = frozenset({"right", "huh", "eh", "okay", "ok", "yeah"})
_AUXILIARIES = word_set(
    "is are was were do does did have has had can could will would should must wo ca ai am"
)
_TURNS = word_set("turn go keep bear veer swerve steer look head")
_ONES = frozenset({"a", "an", "my", "your", "his", "her", "our", "their", "some", "every"})


def mend(words: Sequence[Word]) -> None:
    """Changes heads and relations in place."""
    for word in words:
        if word.lower == "there" and word.tag[:2] == "NN":
            _mend_there(words, word)
        elif word.lemma in SPEECH and word.tag[:2] == "VB":
            mend_quotation(words, word)
        elif word.lower == "like" and word.tag == "IN":
            if any(words[k].dep in _SUBJECTS for k in word.kids):
                word.tag, word.pos = "VBP", "VERB"
        elif word.lemma == "be" and word.tag[:2] == "VB":
            mend_existence(words, word)
        elif word.dep == "conj" and word.lower in COLOURS:
            _mend_colours(words, word)
        elif word.lower == "so" and word.tag in {"RB", "IN", "CC"}:
            _mend_result(words, word)
        elif word.lower == "left" and word.tag[:2] in {"VB", "JJ"} and word.dep != "amod" and word.i:
            _mend_direction(words, words[word.i - 1], word)
        elif word.dep == "conj" and word.tag in {"NN", "JJ"} and not word.kids:
            _mend_joined_verb(words, word)
        elif word.lemma in {"seem", "appear"} and word.tag[:2] == "VB":
            _mend_seeming(words, word)
        elif word.tag in {"NNP", "NNPS"} and word.i:
            _mend_title(words, word)
        elif word.lower == "for" and word.tag == "IN" and word.dep == "prep":
            _mend_for(words, word)
        elif word.text == "?":
            _mend_tag(words, word.i)


def _mend_seeming(words: Sequence[Word], seem: Word) -> None:
    """*She seemed tired*: what seems so is that she was tired."""
    kids = [words[k] for k in seem.kids]
    subject = next((one for one in kids if one.dep == "nsubj"), None)
    state = next((one for one in kids if one.dep in {"oprd", "acomp"} and one.tag[:2] in {"JJ", "VB"}), None)
    if subject is not None and state is not None:
        retie(words, subject, state.i, "nsubj" if state.tag[:2] == "JJ" else "nsubjpass")
        state.dep = "ccomp"


def _mend_title(words: Sequence[Word], word: Word) -> None:
    """*my Ambassador*, *a Minister*: a capital makes no name of what somebody is."""
    before = words[word.i - 1]
    after = words[word.i + 1] if word.i + 1 < len(words) else before
    alone = before.lower in _ONES and after.tag not in {"NNP", "NNPS", "CD"}
    if alone and word.text[1:].islower() and "NOUN" in readings(word.lower):
        word.tag, word.pos = ("NNS" if word.tag == "NNPS" else "NN"), "NOUN"
        word.lemma = lemma_of(word.lower, word.tag)


def _mend_for(words: Sequence[Word], word: Word) -> None:
    """*…, for he was tired*, *For it was late.*: a *for* with nothing below it marks the next clause."""
    if any(
        words[k].dep in {"pobj", "pcomp"} and words[k].tag[:2] in {"NN", "PR", "DT", "VB", "CD"}
        for k in word.kids
    ):
        return
    subject = next((one for one in words[word.i + 1 :] if one.dep in _SUBJECTS), None)
    between = words[word.i + 1 : subject.i] if subject is not None else ()
    if subject is None or any(one.tag[:2] == "VB" or one.tag in {".", ":"} for one in between):
        return
    verb = words[subject.head]
    if verb.tag[:2] != "VB" or verb.i < subject.i or any(words[k].tag == "TO" for k in verb.kids):
        return
    if verb.dep == "conj":
        verb.dep = "advcl"
    retie(words, word, verb.i, "mark")


def _mend_there(words: Sequence[Word], word: Word) -> None:
    """*Class There is …*: a capital makes no name of it."""
    after = words[word.i + 1] if word.i + 1 < len(words) else word
    is_expletive = after.lemma == "be" and after.tag[:2] == "VB" and word.head != word.i
    if is_expletive and not word.kids:
        word.tag, word.pos, word.lemma = "EX", "PRON", "there"
        retie(words, word, after.i, "expl")
    else:
        word.tag, word.pos, word.lemma = "RB", "ADV", "there"


def _mend_direction(words: Sequence[Word], turn: Word, left: Word) -> None:
    """*Turn left*: left is where to, and nobody leaves."""
    verb = lemma_of(turn.lower, "VBD")
    named = any(words[k].dep in {"det", "poss", "amod", "compound"} for k in turn.kids)
    if verb not in _TURNS or turn.tag[:2] not in {"VB", "NN"} or named:
        return
    if turn.tag[:2] == "NN":
        turn.tag, turn.pos, turn.lemma = "VB", "VERB", verb
    if turn.head == left.i:
        raise_over(words, turn, left)
    elif left.head != turn.i:
        retie(words, left, turn.i, "advmod")
    for k in list(left.kids):
        retie(words, words[k], turn.i, words[k].dep)
    left.tag, left.pos, left.dep, left.lemma = "RB", "ADV", "advmod", "left"


def _mend_joined_verb(words: Sequence[Word], word: Word) -> None:
    """*can sing or dance*: a bare word joined to an infinitive is another one."""
    first = words[word.head]
    known = readings(word.lower)
    if word.i - 2 != first.i or first.tag != "VB" or "VERB" not in known:
        return
    if word.tag == "JJ" and "ADJ" in known:
        return
    if any(words[k].dep == "aux" for k in first.kids):
        word.tag, word.pos, word.lemma = "VB", "VERB", lemma_of(word.lower, "VB")


def _mend_tag(words: Sequence[Word], end: int) -> None:
    """*…, isn't it?*: the tag is none of the clause, which is the root again."""
    start = end - 1
    while start > 0 and words[start].text != "," and end - start < 5:
        start -= 1
    tag = words[start + 1 : end]
    forms = [word.lower for word in tag]
    short = words[start].text == "," and 1 <= len(tag) <= 3
    if not short or not (forms[0] in _TAGS or (forms[0] in _AUXILIARIES and tag[-1].tag == "PRP")):
        return
    inside = {word.i for word in tag}
    for word in tag:
        outside = [
            k for k in word.kids if k not in inside and k < start and words[k].dep in {"ccomp", "parataxis"}
        ]
        if word.head == word.i and outside:
            _crown(words, word, words[outside[0]])
    if all(word.head != word.i for word in tag):
        for word in tag:
            word.tag, word.dep = "_SP", "tag"


def _mend_colours(words: Sequence[Word], word: Word) -> None:
    """*black and white dog*: each colour is the dog's."""
    first = words[word.head]
    if first.lower in COLOURS and first.dep == "amod":
        for k in [k for k in first.kids if words[k].dep in {"cc", "conj"}]:
            retie(words, words[k], first.head, "amod" if words[k].dep == "conj" else "punct")


def _mend_result(words: Sequence[Word], so: Word) -> None:
    """*I was tired, so I left*: what comes before *so* is the main clause."""
    result = words[so.head]
    if result.head != result.i or so.i > result.i or result.tag[:2] not in {"VB", "MD"}:
        return
    before = next((words[k] for k in result.kids if words[k].dep == "ccomp" and k < so.i), None)
    if before is None or any(mark.text in _QUOTES for mark in words[before.i : so.i]):
        return
    _crown(words, result, before)
    result.dep, so.dep, so.tag = "advcl", "mark", "IN"


def _crown(words: Sequence[Word], old: Word, new: Word) -> None:
    """Makes ``new`` the root in the place of ``old``, which then hangs on it."""
    old.kids.remove(new.i)
    for k in [k for k in old.kids if k < new.i or words[k].dep == "punct"]:
        retie(words, words[k], new.i, words[k].dep)
    new.head, new.dep = new.i, "ROOT"
    old.head, old.dep = new.i, "dep"
    new.kids = sorted([*new.kids, old.i])


# Questions without a question mark: *do you like it*, *May I come in .*, *nice are you a nurse*.


_MARKS = frozenset({",", ".", "``", "''", ":", "-LRB-", "HYPH", "_SP"})
_LEADS = frozenset({"and", "or", "but", "so", "well", "now", "then"})
_SPEAKERS = frozenset({"i", "we"})


def opens_question(sketch: Sketch, root: Word) -> bool:
    """Whether an auxiliary or *be* stands right before the subject, with nothing that puts it there.

    *So do I*, *Here is one*, *What a fool am I!* and *May you be happy* ask nothing.
    """
    subject = sketch.kid(root.i, "nsubj", "nsubjpass")
    if subject is None:
        return False
    first = min((subject.i, *subject.kids))
    verb = first - 1
    while verb > 0 and sketch.words[verb].lower in {"n't", "not"}:
        verb -= 1
    if verb < 0 or not _inverts(sketch, root, sketch.words[verb]):
        return False
    if sketch.words[verb].lower == "may" and subject.lower not in _SPEAKERS:
        return False
    members = [word for word in sketch.words if word.sentence == root.sentence]
    if any(word.text.startswith("!") for word in members[-2:]):
        return False
    before = [word for word in members if word.i < verb]
    led = [word for word in before if word.lower in _LEADS]
    close = bool(before) and before[-1].lower == "so" and verb == root.i
    return not close and all(word in led or word.tag in _MARKS or word.tag in {"UH", "JJ"} for word in before)


def _inverts(sketch: Sketch, root: Word, verb: Word) -> bool:
    if verb.i == root.i:
        return verb.lemma == "be" and verb.tag in {"VBP", "VBZ", "VBD"}
    if verb.head != root.i or verb.dep not in {"aux", "auxpass"}:
        return False
    return verb.tag == "MD" or verb.lower in MODALS or verb.lemma in {"do", "have", "be"}
