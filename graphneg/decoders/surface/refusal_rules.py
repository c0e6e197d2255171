"""Apply the rules of ``refusals.tsv``, which refuse an edit because of the words around the edited word.

For example, "May I come in?" asks for permission, so the rule set ``question-person`` refuses to change *I*
to *you*. Callers compute the conditions that a table cannot express, and pass them to the rules as flags.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.draft import RealisationError, Token
from graphneg.english.noun_kinds import kind_of
from graphneg.english.words import table_rows, word_class

Known = Token | str | bool
"""Value that a rule of ``refusals.tsv`` can test: a token, a word or a flag."""


class Rule(NamedTuple):
    """A row of ``refusals.tsv``, which states the conditions under which an edit is refused.

    Attributes:
        code: The code of the reason, for example ``no-form``.
        message: The explanation of the reason, as a format string that can contain the tested values.
        conditions: The conditions, which must all be met. Each condition consists of the name of a value, the
            feature to test, a set of words, and a flag. If the flag is True, the feature must be one of the
            words. If it is False, the feature must be none of the words.
    """

    code: str
    message: str
    conditions: tuple[tuple[str, str, frozenset[str], bool], ...]


@cache
def refusals() -> dict[str, list[Rule]]:
    """Read the rules of ``refusals.tsv``, which state when an edit is refused.

    A row consists of the name of a rule set, a code, a message and conditions. A rule applies if all of its
    conditions are met. Conditions have these forms:

    - ``before.lower=a|an``: the feature of a token is one of the words. The features are ``lower``, ``tag``,
        ``expanded``, ``lemma``, ``text`` and ``kind``.
    - ``wanted.kind!=person``: the semantic class of a word differs from the given class.
    - ``wanted=often``: a value that is a word equals the given word.
    - ``asked``, ``!asked`` and ``before.sentence_initial``: a flag is True, or is False.
    - ``before.text=``: the text has no token at this position.

    Instead of a word, ``@name`` stands for all words of a class in ``word_classes.tsv``.

    Returns:
        The rules of each rule set, keyed by the name of the set, in the order of the table.
    """
    sets: dict[str, list[Rule]] = {}
    for name, code, message, cells in table_rows("graphneg.decoders.surface", "refusals.tsv"):
        sets.setdefault(name, []).append(Rule(code, message, tuple(map(_condition, cells.split()))))
    return sets


def apply_rules(sentence: SentenceDraft, rules: str, index: int, **known: Known) -> None:
    """Raise an error if a rule of a rule set applies to the words around an index.

    A rule applies if all of its conditions are met. If several rules apply, the error has the code and the
    message of the first rule. Rules can test the token at the index (``token``) and its neighbours
    (``before``, ``after``, ``after2``).

    Args:
        sentence: The sentence being edited.
        rules: The name of the rule set in ``refusals.tsv``.
        index: The index of the token that an edit would change.
        **known: Further values that the rules can test. A value named ``before``, for example, replaces
            the token before the index.

    Raises:
        RealisationError: A rule applies.
    """
    steps = {"before": -1, "token": 0, "after": 1, "after2": 2}
    known = {name: sentence.tokens.get(index + step) for name, step in steps.items()} | known
    for rule in refusals()[rules]:
        checks = [_feature(known[at], of) in values for at, of, values, _ in rule.conditions]
        if checks == [holds for _, _, _, holds in rule.conditions]:
            raise RealisationError(rule.code, rule.message.format(**known))


def _condition(cell: str) -> tuple[str, str, frozenset[str], bool]:
    """Parse a condition of a rule, such as ``before.lower=a|an``."""
    path, equals, words = cell.partition("=")
    name, _, feature = path.strip("!").partition(".")
    values = [word_class(word[1:]) if word[:1] == "@" else {word} for word in words.split("|")]
    known = frozenset[str]().union(*values) if equals else frozenset({"yes"})
    return name, feature, known, "!" not in (path[:1], path[-1:])


def _feature(thing: Known, feature: str) -> str:
    """Return a feature of a token: for *Saw*, the feature ``lower`` is ``saw``, and ``tag`` is ``VBD``.

    Instead of a token, a rule can test a word or a flag. A word is returned unchanged, except that its
    feature ``kind`` is its semantic class. Flags are returned as ``yes`` or ``no``.
    """
    if feature == "kind":
        return kind_of(thing.lower if isinstance(thing, Token) else str(thing))
    value = getattr(thing, feature) if isinstance(thing, Token) else thing
    return value if isinstance(value, str) else "yes" if value else "no"
