"""Keeps a user's read query from writing: finds the first word of a Cypher text that starts a write.

Servers that enforce read access refuse such queries themselves; this says it sooner and the same
way everywhere, and is all there is where a server does not. Strings, comments and quoted
names are skipped; a name that only looks like a clause (``n.set``, ``:Create``, ``{merge: 1}``) is let by.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphneg.errors import StoreError

WRITE_WORDS = frozenset(
    re.findall(
        r"\w+",
        "ALTER CREATE DELETE DENY DETACH DROP ENABLE FOREACH GRANT INSERT LOAD MERGE NODETACH "
        "REALLOCATE DEALLOCATE REMOVE RENAME REVOKE SET START STOP TERMINATE",
    )
)
READ_PROCEDURES = re.compile(
    r"db\.(labels|propertykeys|relationshiptypes|schema\.\w+|index\.\w+\.query\w+)|dbms\.components|(meta|path|algo)\.\w+",
    re.IGNORECASE,
)
TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\r\n]*|/\*.*?(?:\*/|\Z))
      |(?P<quoted>'(?:[^'\\]|\\.)*(?:'|\Z)|"(?:[^"\\]|\\.)*(?:"|\Z)|`(?:[^`]|``)*(?:`|\Z))
      |(?P<number>\d[\w]*(?:\.\d\w*|\.(?!\.))?)
      |(?P<word>\w+)
      |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
AFTER_NAME = frozenset((",", ")", ".", ":", "=", "]", "}", "|", ""))
BEFORE_NAME = frozenset((".", ":", "$", "|", "&", "!", "AS"))


def refuse_writes(query: str, server_enforces_read_access: bool) -> None:
    """Let a query pass that only reads.

    Raises:
        StoreError: a clause of it writes, or may write on a server that does not enforce read access.
    """
    words = tokens(query)
    for place in range(len(words)):
        word = words[place].upper()
        if word in WRITE_WORDS and not is_name(words, place):
            raise StoreError(
                f"this query would write ({word}), and only reading is allowed here: "
                "say `--write` to allow it"
            )
        if word == "CALL" and not server_enforces_read_access:
            refuse_unknown_procedure(words, place + 1)


def tokens(query: str) -> list[str]:
    """The words and signs of a query. Quoted names and strings stand as one quote mark each."""
    found: list[str] = []
    for match in TOKEN.finditer(query):
        if match.lastgroup == "quoted":
            found.append(match[0][0])
        elif match.lastgroup != "skip":
            found.append(match[0])
    return found


def is_name(words: Sequence[str], place: int) -> bool:
    """Whether the word stands where a clause can't start: as a label, a key, a variable or a parameter."""
    before = words[place - 1].upper() if place else ""
    after = words[place + 1] if place + 1 < len(words) else ""
    return before in BEFORE_NAME or after in AFTER_NAME


def refuse_unknown_procedure(words: Sequence[str], place: int) -> None:
    name = ""
    while place < len(words) and (words[place] in (".", "`") or words[place].isidentifier()):
        name += words[place]
        place += 1
    if name and words[place : place + 1] != ["{"] and not READ_PROCEDURES.match(name):
        raise StoreError(
            f"the procedure {name} may write, and only reading is allowed here: say `--write` to allow it"
        )
