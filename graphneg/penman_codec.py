"""PENMAN notation to and from :class:`~graphneg.model.AmrGraph`, exactly, with positions in errors.

The notation is that of the ``penman`` package (Goodman 2020, "Penman: An Open-Source Library
and Tool for AMR Graphs", ACL demos), and what is written is formatted by that package. The
reader is graphneg's own, because a refusal must say where: ``penman`` forgets positions before
it could see a variable that is introduced twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import penman
from penman.tree import Tree

from graphneg.errors import PenmanError
from graphneg.model import AmrGraph, AmrNode, Mention

MAX_DEPTH = 200
_TOKEN = re.compile(
    r"""(?P<comment>\#.*)
      | (?P<string>"[^"\\]*(?:\\.[^"\\]*)*")
      | (?P<open>\()
      | (?P<close>\))
      | (?P<slash>/)
      | (?P<role>:[^\ \t\r\n\v\f"()/:~]*)
      | (?P<symbol>[^\ \t\r\n\v\f"()/:~]+)
      | (?P<alignment>~(?:[a-z]\.?)?[0-9]+(?:,[0-9]+)*)
      | (?P<unexpected>[^\ \t\r\n\v\f])""",
    re.VERBOSE,
)
_ATOM = re.compile(r'(?!\#)[^ \t\r\n\v\f"()/:~]+|"(?:[^"\\\r\n]|\\[^\r\n])*"')
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[()]')
_DIGITS = re.compile(r"[0-9]{1,9}")
_METADATA = re.compile(r"(?<![^\s#])::(\S+)(?:\s(.*?))?(?=\s+::\S|\s*$)")
_UNWRITTEN_INVERSE = frozenset({"consist-of", "prep-out-of", "prep-on-behalf-of"})


class _Token(NamedTuple):
    kind: str
    text: str
    line: int
    column: int


class _Frame:
    """A node whose closing bracket is still to come."""

    __slots__ = ("branches", "k")

    def __init__(self, k: int) -> None:
        self.k = k
        self.branches = 0


def is_inverted(role: str) -> bool:
    """Whether the text writes a role from the argument's side.

    >>> is_inverted("ARG0-of"), is_inverted("consist-of"), is_inverted("consist-of-of")
    (True, False, True)
    """
    return role.endswith("-of") and role not in _UNWRITTEN_INVERSE


def is_atom(text: str) -> bool:
    """Whether a text can stand as a concept or a constant.

    >>> is_atom("like-01"), is_atom('"New York"'), is_atom("New York")
    (True, True, False)
    """
    return _ATOM.fullmatch(text) is not None and not _SURROGATE.search(text)


def parse_graph(text: str, id: str = "", first_line: int = 1) -> AmrGraph:
    """Read one graph with its comment lines.

    ``first_line`` is the number of the text's first line in its file, for messages.

    Raises:
        PenmanError: the text is not one well-formed graph; ``code`` is one of ``syntax``,
            ``no-graph``, ``unclosed``, ``trailing-text``, ``no-concept``, ``duplicate-instance``,
            ``dangling-role``, ``empty-role``, ``duplicate-variable``, ``too-deep``, ``not-unicode``.
    """
    return _Reader(text, id, first_line).read()


def parse_located(text: str, id: str = "", first_line: int = 1) -> tuple[AmrGraph, list[int]]:
    """As :func:`parse_graph`, with the line in which the text introduces each node."""
    reader = _Reader(text, id, first_line)
    return reader.read(), reader.node_lines()


def format_graph(graph: AmrGraph) -> str:
    """Write a graph as the ``penman`` package lays it out, comment lines first.

    >>> print(format_graph(parse_graph("(l / like-01 :ARG0 (i / i) :polarity -)")))
    (l / like-01
       :ARG0 (i / i)
       :polarity -)
    """
    text = penman.format(Tree(tree_node(graph)))
    return "\n".join((*graph.metadata, text))


def tree_node(graph: AmrGraph) -> tuple[str, list[Any]]:
    """The graph as a ``penman`` tree node: ``(variable, [(role, target), ...])``."""
    branches: list[list[tuple[int, str, Any]]] = [[] for _ in graph.nodes]
    for mention in graph.mentions:
        target = (graph.nodes[mention.target].var or "") + (mention.align or "")
        branches[mention.up].append((mention.pos, f":{mention.role}{mention.role_align or ''}", target))
    for node in reversed(graph.nodes):
        if node.value is not None:
            written: Any = node.value + (node.align or "")
        else:
            below = branches[node.k]
            below.sort(key=_position)
            written = (node.var, [("/", f"{node.concept}{node.align or ''}"), *[b[1:] for b in below]])
        if node.up is None:
            return written
        branches[node.up].append((node.pos, f":{node.role}{node.role_align or ''}", written))
    raise ValueError(f"graph {graph.id!r} has no top")


def token_span(align: str | None) -> tuple[int, int] | None:
    """The token range of an alignment mark: from its first token to behind its last.

    >>> token_span("~e.3"), token_span("~e.2,4")
    ((3, 4), (2, 5))
    """
    if align is None:
        return None
    numbers = [int(number) for number in _DIGITS.findall(align)]
    return min(numbers), max(numbers) + 1


def metadata(lines: Sequence[str]) -> dict[str, str]:
    """The ``::key value`` pairs of comment lines; the last one of a key counts.

    >>> metadata(["# ::id lpp.1 ::date today", "# ::snt Chapter 1 ."])
    {'id': 'lpp.1', 'date': 'today', 'snt': 'Chapter 1 .'}
    """
    found: dict[str, str] = {}
    for line in lines:
        for key, value in _METADATA.findall(line):
            found[key] = value.strip()
    return found


def iter_blocks(lines: Iterator[str] | Sequence[str] | str) -> Iterator[tuple[int, str]]:
    """Split a file into ``(number of its first line, text)`` of one graph each, comments included.

    A block ends where its brackets close. One that never closes ends before the next comment
    line or the next ``(`` in the first column, so that a malformed graph costs only itself.
    Comment lines that a blank line parts from any graph are a block only if they have ``::snt``
    or ``::id`` (a graph is missing there).
    """
    block: list[str] = []
    start, depth, begun = 1, 0, False
    for number, raw in enumerate(_LINE_ENDS.split(lines) if isinstance(lines, str) else lines, 1):
        line = raw.rstrip("\r\n")
        comment = line.startswith("#")
        if block and (begun and (comment or line.startswith("("))):
            yield start, "\n".join(block)
            block, depth, begun = [], 0, False
        elif block and not begun and not line.strip():
            if any("::id" in one or "::snt" in one for one in block):
                yield start, "\n".join(block)
            block = []
        if not line.strip() and not block:
            continue
        if not block:
            start = number
        if comment:
            block.append(line)
            continue
        for piece, reached in _pieces(line, depth):
            depth = reached
            block.append(piece)
            begun = begun or bool(piece.strip())
            if depth <= 0 and begun and (")" in piece):
                yield start, "\n".join(block)
                block, depth, begun, start = [], 0, False, number
    if block and (begun or any("::id" in one or "::snt" in one for one in block)):
        yield start, "\n".join(block)


def _pieces(line: str, depth: int) -> Iterator[tuple[str, int]]:
    """Cut a line behind each bracket that closes a graph; with the depth reached."""
    begin = 0
    for match in _BRACKETS.finditer(line):
        if match[0] == "(":
            depth += 1
        elif match[0] == ")":
            depth -= 1
            if depth <= 0:
                rest = line[match.end() :].strip()
                if rest.startswith("(") or not rest:
                    yield line[begin : match.end()], depth
                    begin, depth = match.end(), 0
    if line[begin:].strip():
        yield line[begin:], depth


def _mention_place(mention: Mention) -> tuple[int, int]:
    return mention.up, mention.pos


def _position(branch: tuple[int, str, Any]) -> int:
    return branch[0]


class _Reader:
    """One pass over the tokens, with a stack of open nodes."""

    def __init__(self, text: str, id: str, first_line: int) -> None:
        self._id = id
        self._lines = _LINE_ENDS.split(text)
        self._first_line = first_line
        self._metadata: list[str] = []
        self._nodes: list[list[Any]] = []
        self._node_lines: list[int] = []
        self._atoms: list[tuple[int, _Token]] = []
        self._variables: dict[str, int] = {}
        self._here = _Token("end", "", first_line, 1)

    def read(self) -> AmrGraph:
        tokens = self._tokens()
        token = next(tokens, None)
        while token is not None and token.kind == "comment":
            self._metadata.append(token.text)
            token = next(tokens, None)
        if token is None:
            raise self._error("no-graph", "there is no graph here")
        if token.kind != "open":
            raise self._error("syntax", f"expected '(' and found {token.text!r}", token)
        self._graph(tokens)
        for token in tokens:
            raise self._error("trailing-text", f"unexpected {token.text[:40]!r} behind the graph", token)
        return self._finished()

    def node_lines(self) -> list[int]:
        mentioned = {k for k, atom in self._atoms if atom.text in self._variables}
        return [line for k, line in enumerate(self._node_lines) if k not in mentioned]

    def _tokens(self) -> Iterator[_Token]:
        for number, line in enumerate(self._lines, self._first_line):
            for match in _TOKEN.finditer(line):
                token = _Token(match.lastgroup or "", match[0], number, match.start() + 1)
                if not token.text.isascii():
                    self._check_unicode(token)
                if token.kind == "unexpected":
                    raise self._error("syntax", f"unexpected character {token.text!r}", token)
                self._here = token
                yield token

    def _graph(self, tokens: Iterator[_Token]) -> None:
        """Read from behind the first bracket to behind the last one."""
        stack: list[_Frame] = []
        token = self._open(tokens, stack, None, None, 0, None)
        while True:
            frame = stack[-1]
            if token.kind == "close":
                self._nodes[frame.k][1] = len(self._nodes) - 1
                stack.pop()
                if not stack:
                    return
                token = self._next(tokens)
                continue
            if token.kind == "slash":
                raise self._error("duplicate-instance", "a second concept for one variable", token)
            if token.kind != "role":
                raise self._error("syntax", f"expected a role or ')' and found {token.text!r}", token)
            if token.text == ":":
                raise self._error("empty-role", "a role without a name", token)
            role, pos = token, frame.branches
            frame.branches += 1
            token, role_align = self._alignment(tokens)
            if token.kind == "open":
                if len(stack) >= MAX_DEPTH:
                    raise self._error("too-deep", f"nested more than {MAX_DEPTH} deep", token)
                token = self._open(tokens, stack, frame.k, role.text[1:], pos, role_align)
            elif token.kind in ("symbol", "string"):
                k = len(self._nodes)
                atom = token
                token, align = self._alignment(tokens)
                self._atoms.append((k, atom))
                node = [k, k, None, None, atom.text, frame.k, role.text[1:], pos, align, role_align]
                self._nodes.append(node)
                self._node_lines.append(atom.line)
            else:
                raise self._error("dangling-role", f"role {role.text} has no target", role)

    def _open(
        self,
        tokens: Iterator[_Token],
        stack: list[_Frame],
        up: int | None,
        role: str | None,
        pos: int,
        role_align: str | None,
    ) -> _Token:
        """Read ``VARIABLE / CONCEPT`` behind an opening bracket; returns the token that follows."""
        variable = self._next(tokens)
        if variable.kind != "symbol":
            raise self._error("syntax", f"expected a variable and found {variable.text!r}", variable)
        if variable.text in self._variables:
            raise self._error("duplicate-variable", f"variable {variable.text} is introduced twice", variable)
        slash = self._next(tokens)
        if slash.kind != "slash":
            raise self._error("no-concept", f"variable {variable.text} has no concept", variable)
        concept = self._next(tokens)
        if concept.kind not in ("symbol", "string"):
            raise self._error("no-concept", f"variable {variable.text} has no concept", slash)
        k = len(self._nodes)
        self._variables[variable.text] = k
        stack.append(_Frame(k))
        token, align = self._alignment(tokens)
        node = [k, k, variable.text, concept.text, None, up, role, pos, align, role_align]
        self._nodes.append(node)
        self._node_lines.append(variable.line)
        return token

    def _alignment(self, tokens: Iterator[_Token]) -> tuple[_Token, str | None]:
        """The next token, and the alignment mark before it if there is one."""
        token = self._next(tokens)
        if token.kind == "alignment":
            return self._next(tokens), token.text
        return token, None

    def _next(self, tokens: Iterator[_Token]) -> _Token:
        """The next token inside the graph."""
        token = next(tokens, None)
        if token is None:
            raise self._error("unclosed", "the graph ends before its brackets close")
        if token.kind == "comment":
            raise self._error("syntax", "a comment inside the graph", token)
        return token

    def _finished(self) -> AmrGraph:
        """Tell mentions of variables from constants, and number the nodes."""
        mentioned = [(k, atom) for k, atom in self._atoms if atom.text in self._variables]
        if not mentioned:
            return self._graph_of([AmrNode(*fields) for fields in self._nodes], [])
        return self._renumbered(dict(mentioned))

    def _renumbered(self, mentioned: dict[int, _Token]) -> AmrGraph:
        number: dict[int, int] = {}
        for old in range(len(self._nodes)):
            if old not in mentioned:
                number[old] = len(number)
        skipped = 0
        before: list[int] = []
        for old in range(len(self._nodes)):
            skipped += old in mentioned
            before.append(skipped)
        nodes: list[AmrNode] = []
        mentions: list[Mention] = []
        for old, (_, last, var, concept, value, up, role, pos, align, role_align) in enumerate(self._nodes):
            above = None if up is None else number[up]
            if old in mentioned:
                target = number[self._variables[value]]
                mentions.append(Mention(above or 0, role, pos, target, align, role_align))
            else:
                k = number[old]
                nodes.append(
                    AmrNode(k, last - before[last], var, concept, value, above, role, pos, align, role_align)
                )
        return self._graph_of(nodes, mentions)

    def _graph_of(self, nodes: list[AmrNode], mentions: list[Mention]) -> AmrGraph:
        mentions.sort(key=_mention_place)
        spans = {node.k: span for node in nodes if (span := token_span(node.align)) is not None}
        return AmrGraph(self._id, tuple(nodes), tuple(mentions), tuple(self._metadata), spans)

    def _check_unicode(self, token: _Token) -> None:
        found = _SURROGATE.search(token.text)
        if found:
            place = token._replace(column=token.column + found.start())
            raise self._error("not-unicode", "a lone surrogate is not a character", place)

    def _error(self, code: str, message: str, token: _Token | None = None) -> PenmanError:
        where = token or self._here
        return PenmanError(code, message, where.line, where.column)
