"""Find out whether an earlier statement can be edited in the same way as the reply that repeats it.

A composed reply repeats a statement of the turn before it with a change. If the statement gets the same
change, the reply is right. Such a pair of a negative and its twin has equal replies, and only the context
tells them apart:

    negative   A: I like tea.         B: Why don't you like tea?
    twin       A: I don't like tea.   B: Why don't you like tea?

The edited context must be one that people could write. `refusal_of_texts` checks the texts of the turns, and
`refusal_of_clauses` the graph of the edited turn. `graphneg.editing.proof` compares the edited turn with the
rest of the dialogue.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise, takewhile

from graphneg.amr.concept_words import PRONOUNS
from graphneg.decoders.surface.operations.quantifiers import is_quantifier
from graphneg.discourse import ClauseReading, Reading
from graphneg.english.reply_frames import reply_frame
from graphneg.english.tokens import tokenize, typed_sentences
from graphneg.english.words import table_rows, unique_rows
from graphneg.model import Edit
from graphneg.store.dialogues import StoredTurn

_TABLE = "context_twins.tsv"
_WORD = re.compile(r"\w")
_WHOLE = 100
_LONGEST_NUMBER = 4
"""Maximum number of words of a replaced number: "one hundred and twenty"."""
# Roles of clauses that depend on the statement: "I stay if it rains."
_DEPENDENT_ROLES = frozenset(
    {"condition", "concession", "cause", "cause-of", "condition-of", "concession-of"}
)


@cache
def _classes() -> dict[str, frozenset[str]]:
    rows = unique_rows([row for row in table_rows("graphneg.editing", _TABLE) if any(row)], _TABLE)
    return {name: frozenset(words.split(" ")) for name, words in rows.items()}


def _words(name: str) -> frozenset[str]:
    """Return the words of a class of the table ``context_twins.tsv``."""
    return _classes()[name]


def edits_of_statement(said: StoredTurn, say: Edit, changes: Sequence[Edit]) -> tuple[Edit, ...]:
    """Return the edits that give an earlier statement the changes of the reply that repeats it.

    Args:
        said: The turn that contains the statement.
        say: The edit that repeats the statement, with the operation ``say``.
        changes: The edits that change the copy.

    Returns:
        The edits of the statement's graph.

    Example:
        A reply drops the modality of "I want to wash my car" and puts the copy under ``obligate-01``. The
        turn is replaced by its own clause with the same changes: "I have to wash my car."
    """
    amr = say.from_amr or ""
    if not _is_restated(said.text, changes):
        return tuple(edit._replace(amr=amr, copy_of=None) for edit in changes)
    claim = say._replace(amr=amr, voice="own", frame="claim")
    return (claim, *(edit._replace(amr=amr, copy_of=amr) for edit in changes))


def _is_restated(text: str, changes: Sequence[Edit]) -> bool:
    """Return whether a turn is replaced by its own clause with the changes.

    Some changes can be written only in a repeated clause. "I want to go" becomes "I have to go" or "I've
    already gone", and "many" becomes "only a few". Openings such as "Great, ..." are left out of a repeated
    clause.
    """
    if not (_replaces_word(changes) or _changes_polarity(changes)) or is_quantifier(changes[0].concept or ""):
        return True
    return _first_word(text) in _words("openings")


def _first_word(text: str) -> str:
    return next((token.text.lower() for token in tokenize(text)), "")


def refusal_of_texts(
    turns: Sequence[StoredTurn], reply: int, say: Edit, changes: Sequence[Edit]
) -> str | None:
    """Return why the statement that a reply repeats cannot be edited, as far as the texts show it.

    Args:
        turns: The turns of the dialogue.
        reply: The number of the turn that the reply replaces.
        say: The edit that repeats the statement.
        changes: The edits that change the copy.

    Returns:
        The reason; None if the texts allow the edit.
    """
    frame = reply_frame(say.frame or "", say.voice or "")
    # A: "I don't like tea." B: "But you said you don't like tea." objects to nothing.
    if frame is None or frame.allows_context_twin != "yes":
        return f"in the frame {say.frame!r}, the reply is wrong after the edited statement, too"
    # "Please sit down" is repeated as "you want me to sit down". The request itself has no such words.
    if say.concept is not None:
        return "a request is repeated in other words"
    # "My sister lives in Rome" becomes "You live in Rome", which the addressee knows better.
    if any(edit.op == "set" and edit.concept in PRONOUNS for edit in changes):
        return "the statement would be about another person"
    by_number = {turn.turn: turn for turn in turns}
    said = by_number.get(reply - 1)
    # If there are turns between the statement and the reply, they answer the unedited statement.
    if said is None or said.graph_id != say.from_amr:
        return "turns between the statement and the reply answer the unedited statement"
    # A: "I like tea. How about you?" B: "So you don't like tea?" does not answer the question.
    if "?" in said.text:
        return "the turn before the reply asks a question"
    asked = by_number.get(reply - 2)
    found = _refusal_of_answer(asked.text, changes) if asked is not None else None
    return found or _refusal_of_words(said.text, say.frame or "", changes)


def _refusal_of_answer(asked: str, changes: Sequence[Edit]) -> str | None:
    """Return why a statement cannot be edited because of the turn that it answers."""
    questions = [part.text for part in typed_sentences(asked) if "?" in part.text]
    # B: "May I help you?" A: "I have to return these books." Nearly any wish or fact answers an offer.
    if not questions or (_is_offer(questions[-1]) and not _changes_polarity(changes)):
        return None
    # B: "Do you like tea?" A: "I like it." The edited statement would have to be an answer, too.
    if any(_words("question-words").isdisjoint(_words_of(question)) for question in questions):
        return "the statement answers a yes/no question"
    # B: "Where do you work?" A: "I don't work at a bank." is no answer. "I work at a school" is one.
    return None if _replaces_word(changes) else "the statement answers a question"


def _is_offer(question: str) -> bool:
    """Return whether a question offers help: "May I help you?", "What can I do for you?"."""
    words = _words_of(question)
    return "i" in words and ("help" in words or words[-3:] == ["do", "for", "you"])


def _words_of(text: str) -> list[str]:
    return [token.text.lower() for token in tokenize(text) if _WORD.search(token.text) or token.text == "%"]


def _refusal_of_words(text: str, frame: str, changes: Sequence[Edit]) -> str | None:
    """Return why a turn cannot be edited because of its other words and sentences."""
    first = _first_word(text)
    # *Yes* in "Yes, I like tea" answers a question, and *but* in "But I like tea" objects to a statement.
    if first in _words("answers") | _words("links"):
        return f"the turn begins with {first!r}, which may not fit the edited statement"
    # "I'm tired. I want to go home.": without the wish, the first sentence may not fit. If only a thing, time
    # or number is replaced, the other sentences usually still fit.
    parts = [part.text for part in typed_sentences(text) if _WORD.search(part.text)]
    claims = [part for part in parts if not _is_greeting(part) and not _is_opening(part)]
    if len(claims) > 1 and not _replaces_word(changes):
        return "another sentence of the turn may depend on the statement"
    # In "It closes at six. So hurry up.", *so* refers to the statement.
    for part in claims[1:]:
        referring = next((word for word in _words_of(part) if word in _words("referring-words")), None)
        if referring is not None:
            return f"{referring!r} may refer to the statement"
    # A turn that is replaced by its own clause has no other sentences.
    if len(claims) > 1 and _is_restated(text, changes):
        return "the other sentences of the turn would be lost"
    # "I have three sisters, a brother, and my parents.": an edit would change only one item.
    if claims and claims[-1].count(",") > 1:
        return "the statement is a list"
    # *too* in "I like tea, too" and *but* in "I like tea, but I hate coffee" relate the statement to another
    # one. So do words such as *so* in "It's so nice", unless only a thing, time or number is replaced.
    kept = frozenset[str]() if _replaces_word(changes) else _words("measuring-words")
    words = _words_of(text)
    phrases = (f"{one}_{other}" for one, other in pairwise(words))
    related = next((one for one in (*words, *phrases) if one in _words("relating-words") | kept), None)
    if related is not None:
        return f"{related!r} relates the statement to another one"
    return _refusal_of_reason(words, frame, changes)


def _refusal_of_reason(words: Sequence[str], frame: str, changes: Sequence[Edit]) -> str | None:
    """Return why a statement cannot be edited because of its other words and the frame of the reply.

    The reply repeats the edited statement in this frame. For example, nobody asks "Why isn't it late?".
    """
    spoken = [word for word in words if word not in _words("openings")]
    # "It isn't late." is right, but nobody asks "Why isn't it late?".
    is_explained = frame in ("why", "surprise") and not _replaces_word(changes)
    if is_explained and spoken[:1] and spoken[0] in _words("impersonal-subjects"):
        return "nobody knows a reason for an impersonal statement"
    # "I can find the book" and "I've already found it" are right, but not "Why have you already found it?".
    is_done = any(edit.role == "time" for edit in changes)
    is_possible = _replaces_word(changes) and not _words("modals").isdisjoint(words)
    if frame == "why" and (is_done or is_possible):
        return "nobody asks for the reason of such a statement"
    # "I had no idea" does not become "I had an idea".
    if any(edit.op == "drop" for edit in changes) and "no" in words[1:]:
        return "the negation is a part of a phrase"
    # "I've called a hundred times" does not become "I've called a 200 times".
    values = [edit.value for edit in changes if edit.value is not None and edit.op == "set"]
    if values and any(one == "a" and other in _words("multipliers") for one, other in pairwise(words)):
        return "the number begins with 'a'"
    # "It's 60% cotton" does not become "It's 200% cotton".
    if "%" in words and any(value.isdigit() and int(value) > _WHOLE for value in values):
        return "a share is at most 100%"
    return None


def _is_greeting(sentence: str) -> bool:
    """Return whether a sentence such as "Hello, Mr. Brown." says nothing about other sentences."""
    first, *others = [token.text for token in tokenize(sentence) if _WORD.search(token.text)]
    known = _words("greetings")
    return first.lower() in known and all(word.lower() in known or word[0].isupper() for word in others)


def _is_opening(sentence: str) -> bool:
    """Return whether a sentence such as "Oh, great." only answers the turn before it."""
    return all(word in _words("openings") for word in _words_of(sentence))


def _changes_polarity(changes: Sequence[Edit]) -> bool:
    """Return whether the only change adds or drops a negation."""
    return len(changes) == 1 and _is_polarity(changes[0])


def _is_polarity(change: Edit) -> bool:
    return change.op == "drop" or (change.op, change.role) == ("add", "polarity")


def _replaces_word(changes: Sequence[Edit]) -> bool:
    """Return whether the only change is another word, such as another thing, time or number."""
    return len(changes) == 1 and changes[0].op == "set"


def refusal_of_clauses(said: Reading, claim: ClauseReading, changes: Sequence[Edit]) -> str | None:
    """Return why the graph of a turn does not allow an edit of its statement.

    Args:
        said: The clauses of the unedited turn.
        claim: The statement.
        changes: The edits that change the copy of the statement.

    Returns:
        The reason; None if the graph allows the edit.
    """
    view = said.view
    top = view.sentences[claim.head]
    # "I know you are late": an edit of *know* does not change what the speaker takes for granted, that is,
    # "you are late".
    if view.labels[claim.head] in _words("embedding"):
        return "the predicate takes the statement for granted"
    # "I'm tired, but she works.": the other part of the sentence may not fit the edited statement.
    if claim.head != top:
        return "the statement is a part of a longer sentence"
    if any(view.is_a(k, "linking", "joining") and view.labels[k] != "and" for k in view.descendants(top)):
        return "another clause depends on the statement"
    # "I can't right now." The negation of an elliptic clause cannot be dropped.
    if view.is_a(claim.head, "modal") and not any(view.is_frame[k] for k in view.descendants(claim.head)):
        return "the statement has no verb"
    # "I go to bed." "TV is boring." Nouns without a determiner are often parts of a phrase.
    bare = {one.position for one in said.mentions if (one.kind, one.definiteness) == ("noun", "bare")}
    if any(edit.op == "set" and edit.value is None and edit.position in bare for edit in changes):
        return "the replaced noun has no determiner"
    # "I stay if it rains.": the condition may not fit the edited statement.
    if any(view.roles[k].removesuffix("-of") in _DEPENDENT_ROLES for k in view.descendants(top)):
        return "another clause depends on the statement"
    # "I love it. It's cheap.": if *love* becomes *hate*, the second sentence no longer fits. If a thing is
    # replaced, it usually does.
    changed = [edit.position for edit in changes if edit.op == "set"]
    if view.is_multiple and any(
        k in (claim.head, claim.core) or view.is_frame[k] or view.roles[k] == "mod" for k in changed
    ):
        return "another sentence of the turn may depend on the statement"
    return None


def changes_other_words(before: str, after: str, changes: Sequence[Edit]) -> bool:
    """Return whether the replacement of a word has changed other words of a turn, too.

    "I'm hungry now" becomes "I was hungry yesterday", which may no longer fit the turns before it.

    Args:
        before: The text of the turn.
        after: The text of the edited turn.
        changes: The edits that change the copy of the statement.

    Returns:
        True if the edits replace a word, and the texts differ in more words.
    """
    if not _replaces_word(changes):
        return False
    # *A* may become *an* before another noun.
    old, new = (["a" if word == "an" else word for word in text.split()] for text in (before, after))
    same = list(takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    rest = zip(reversed(old[len(same) :]), reversed(new[len(same) :]), strict=False)
    last = list(takewhile(lambda pair: pair[0] == pair[1], rest))
    is_number = changes[0].value is not None
    return len(old) - len(same) - len(last) > (_LONGEST_NUMBER if is_number else 1)


def repeated_word(said: Reading, changes: Sequence[Edit], others: Iterable[Reading]) -> str | None:
    """Return a replaced word that the context contains elsewhere, too; None if there is none.

    B: "This car is new." A: "I want to buy the car." If A wanted to buy a bike, A would not answer B.

    Args:
        said: The unedited turn.
        changes: The edits that change the copy of the statement.
        others: The other turns of the context.

    Returns:
        The concept or constant.
    """
    replaced = {edit.position: said.view.labels[edit.position] for edit in changes if edit.op == "set"}
    for k, label in replaced.items():
        again = [at for at, other in enumerate(said.view.labels) if other == label and at != k]
        if again or any(label in other.view.labels for other in others):
            return label
    return None
