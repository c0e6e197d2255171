"""Find grammatical errors that an edit or a decoder has introduced into a text.

`grammar_errors` checks a text with the rules of the grammar checker Harper that are listed in
``grammar_rules.tsv``, and with the patterns in ``nonsense.tsv``. People make such errors as well, so a text
is not rejected for an error that its sources also contain. `new_error` compares a decoded text with the
texts from which it was made:

>>> new_error("You've didn't see the the bus.", ["I saw the the bus."])
'two-auxiliaries'
>>> new_error("You didn't see the the bus.", ["I saw the the bus."])

Harper is a program in Rust, and its Python package ``harper-py`` contains it for each platform. It needs
about half a millisecond for a text of ten words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.metadata import version
from threading import Lock
from typing import TYPE_CHECKING

from graphneg.english.tokens import sentences
from graphneg.english.words import table_rows

if TYPE_CHECKING:
    from harper import Linter

_REMEMBERED = 8192
"""Number of texts whose errors are remembered. Several negatives are made from the same text."""
_APOSTROPHE = re.compile(r"(?<=\w) ?' ?(?=(?:t|s|re|ve|ll|d|m)\b)")
# A linter must not be used by two threads at the same time.
_LINTING = Lock()


@lru_cache(_REMEMBERED)
def grammar_errors(text: str) -> tuple[str, ...]:
    """Return the errors of a text.

    Args:
        text: One or more sentences.

    Returns:
        The names of the patterns and rules that find an error, patterns first, each in the order of its
        table.

    Example:
        >>> grammar_errors("She don't like me friends.")
        ('me-possessor', 'PronounVerbAgreement')
        >>> grammar_errors("She doesn't like my friends.")
        ()
    """
    # Tokenised text has spaces around the apostrophe: "you ’ re", "don ' t".
    plain = _APOSTROPHE.sub("'", " ".join(text.replace("’", "'").split()))
    found = [name for name, pattern in _patterns() if pattern.search(plain)]
    linter = _linter()
    with _LINTING:
        lints = linter.lint(plain, language="plaintext")
        # Getting the names of the rules takes as long as `lint`. So get them only for texts with an error.
        if lints:
            named = linter.organized_lints(plain, language="plaintext")
            found += [name for name, of_rule in named.items() if of_rule]
    return tuple(found)


def new_error(text: str, sources: Iterable[str]) -> str | None:
    """Return the first grammatical error of an edited text that the original texts do not contain.

    Args:
        text: Text that was made by an edit.
        sources: The texts from which it was made: the text before the edit, and texts from which a part was
            copied.

    Returns:
        The name of the first new error, or None if there is none.
    """
    sources = tuple(sources)
    # An edit changes one or two sentences of a turn. Check only these sentences.
    unchanged = {sentence for source in sources for sentence in sentences(source)}
    changed = [sentence for sentence in sentences(text) if sentence not in unchanged]
    errors = grammar_errors(" ".join(changed)) if changed else ()
    if not errors:
        return None
    known = {name for source in sources for name in grammar_errors(source)}
    return next((name for name in errors if name not in known), None)


def checker_version() -> str:
    """Return the version of the grammar checker. Other versions may find other errors."""
    return version("harper-py")


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the names and compiled patterns of ``nonsense.tsv``."""
    rows = table_rows("graphneg.english", "nonsense.tsv")
    return tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern, _ in rows)


@cache
def _linter() -> Linter:
    """Return a linter with the rules of ``grammar_rules.tsv``. Its dictionary takes a second to load."""
    from harper import Linter

    linter = Linter()
    chosen = {name for name, _ in table_rows("graphneg.english", "grammar_rules.tsv")}
    linter.set_lint_config({name: name in chosen for name in linter.get_lint_config()})
    return linter
