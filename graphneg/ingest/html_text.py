r"""Convert HTML into plain text. Help desks export some texts as HTML.

Python's HTML parser takes minutes for some malformed texts. The tags are therefore removed by a regular
expression that takes linear time.

>>> plain_text("<p>Hi &amp; hello.</p><div>My <b>parcel</b><br>is lost.</div><style>p {}</style>")
'Hi & hello.\nMy parcel\nis lost.'
"""

from __future__ import annotations

import html
import re

_TAG = re.compile(r"(<[/!?]?[a-zA-Z-][^<>]*>)")
_NAME = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
# Matches the tag that Microsoft Teams writes for an emoji: <emoji alt="🙂"></emoji>
_EMOJI = re.compile(r"""<emoji\s(?:[^<>]*?\s)?alt=["']([^"'<>]{1,20})["']""")
_BLOCKS = frozenset({
    "address", "article", "blockquote", "br", "dd", "div", "dl", "dt", "footer", "h1", "h2", "h3", "h4",
    "h5", "h6", "header", "hr", "li", "ol", "p", "pre", "section", "table", "td", "th", "tr", "ul",
})  # fmt: skip
"""Elements before and after which a new line begins."""
_UNSEEN = frozenset({"script", "style", "head", "title", "template"})
"""Elements whose content a browser does not show."""
_INLINE = "a|b|code|del|em|font|i|ins|kbd|mark|pre|q|s|small|span|strike|strong|sub|sup|tt|u"
# Match simple tags in a text: "His <i>own</i> idea.", "Hi,<br>it is late.", and "Yes.<p>See the README.",
# which Hacker News writes.
_PAIR = re.compile(rf"<(?P<name>{_INLINE})(?:\s[^<>]*)?>[^<]*</(?P=name)>", re.IGNORECASE)
_BREAK = re.compile(r"(?<=\S)</?p>|</?p>(?=\S)|<br ?/?>", re.IGNORECASE)
_MOST_NESTED = 10
"""Maximum depth of inline tags in each other that are removed."""
_INLINE_TAG = re.compile(rf"</?(?:{_INLINE})(?:\s[^<>]*)?>", re.IGNORECASE)


def plain_text(text: str) -> str:
    """Return the text that a browser shows for HTML.

    Args:
        text: HTML, or a text without tags and entities.

    Returns:
        The text, with one line per paragraph, and without blank lines.
    """
    # `pieces` contains texts at even indices, and tags at odd indices.
    pieces = _TAG.split(text)
    has_tags = len(pieces) > 1
    shown: list[str] = []
    unseen = ""
    for at, piece in enumerate(pieces):
        if at % 2 == 0:
            if not unseen:
                # In HTML, a line break in the text counts as a blank.
                shown.append(re.sub(r"\s+", " ", piece) if has_tags else piece)
            continue
        if (tag := _NAME.match(piece)) is None:
            continue
        slash, name = tag[1], tag[2].lower()
        if unseen:
            unseen = "" if slash and name == unseen else unseen
        elif name in _UNSEEN and not slash:
            unseen = name
        elif name == "emoji" and (sign := _EMOJI.match(piece)) is not None:
            shown.append(sign[1])
        elif name in _BLOCKS:
            shown.append("\n")
    lines = (" ".join(line.split()) for line in html.unescape("".join(shown)).split("\n"))
    return "\n".join(line for line in lines if line)


def without_simple_tags(text: str) -> str:
    r"""Remove simple tags from a text that is not HTML as a whole. Keep its line breaks and entities.

    >>> without_simple_tags("Yes.<p>See <a href='x'>this</a>, it&#x27;s <i>new</i>.")
    'Yes.\nSee this, it&#x27;s new.'
    >>> without_simple_tags("Is a<b or b>c? It is <p> I mean.")
    'Is a<b or b>c? It is <p> I mean.'

    Args:
        text: The text.

    Returns:
        The text without tags such as ``<i>`` that are closed again, and with a line break for ``<p>`` and
        ``<br>``. The text itself if it has no such tags.
    """
    if "<" not in text:
        return text
    shown = _BREAK.sub("\n", text)
    # Remove a tag such as "<i>" only together with its closing tag: "a<b" contains no tag.
    for _ in range(_MOST_NESTED):
        shown, pairs = _PAIR.subn(lambda pair: _INLINE_TAG.sub("", pair[0]), shown)
        if not pairs:
            break
    return shown if shown == text else shown.strip()
