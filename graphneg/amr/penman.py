"""Read and write PENMAN notation without loss, with line and column in error messages.

The notation is that of the ``penman`` package (Goodman 2020, "Penman: An Open-Source Library and Tool for
AMR Graphs", ACL demos), which also formats the output. graphneg has its own parser, because error messages
must name a line and a column. ``penman`` discards the positions of tokens before it builds the graph, so it
could not report the position of, for example, a variable that is introduced twice. Comment lines, alignment
marks and the order of branches are kept, so that reading and writing a graph loses nothing.

>>> graph = parse_graph("(l / like-01 :ARG0 (i / i) :polarity -)")
>>> [node.label for node in graph.nodes], format_graph(graph).splitlines()[1]
(['like-01', 'i', '-'], '   :ARG0 (i / i)')
>>> parse_graph("(l / like-01 :ARG0 (l / i))")
Traceback (most recent call last):
graphneg.errors.PenmanError: line 1, column 21: variable l is introduced twice [duplicate-variable]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from operator import itemgetter
from typing import Any

import penman
from penman.tree import Tree

from graphneg.errors import PenmanError
from graphneg.model import AmrGraph, AmrNode, Mention

LINE_ENDS = re.compile(r"\r\n|\r|\n")
"""Pattern of the line ends; the line numbers in error messages count them."""
SURROGATE = re.compile(r"[\ud800-\udfff]")
"""Pattern of one half of a surrogate pair, which cannot be encoded as UTF-8."""
MAX_DEPTH = 200
"""Maximum depth of nested nodes. `penman` formats graphs by recursion, which Python limits."""
_TOKEN = re.compile(
    r"""\#.*                                # a comment
      | "[^"\\]*(?:\\.[^"\\]*)*"           # a string
      | [()/]
      | :[^\ \t\r\n\v\f"()/:~]*           # a role
      | [^\ \t\r\n\v\f"()/:~]+            # a symbol
      | ~(?:[a-z]\.?)?[0-9]+(?:,[0-9]+)*  # an alignment
      | [^\ \t\r\n\v\f]                  # nothing that belongs here""",
    re.VERBOSE,
)
"""Pattern of a token; its first character tells its type. A lone quotation mark or tilde is an error."""
# A token that begins with a character of `_NO_ATOM` is neither a concept nor a constant. A token that begins
# with a character of `_NO_SYMBOL` is not a variable. The empty string stands for the end of the text.
_NO_ATOM = frozenset({"", "#", "(", ")", "/", ":", "~"})
_NO_SYMBOL = _NO_ATOM | {'"'}
_DIGITS = re.compile(r"[0-9]{1,9}")


def token_span(align: str | None) -> tuple[int, int] | None:
    """Return the token range of an alignment mark.

    Args:
        align: The mark as it is written, for example ``~e.3``, or None.

    Returns:
        The index of the first token, and the index after the last token. None if there is no mark.

    Example:
        >>> token_span("~e.3"), token_span("~e.2,4")
        ((3, 4), (2, 5))
    """
    if align is None:
        return None
    numbers = [int(number) for number in _DIGITS.findall(align)]
    return min(numbers), max(numbers) + 1


class _GraphReader:
    """Parser of one graph. It makes one pass over the tokens and keeps a stack of open nodes.

    Loading a corpus spends most of its time here. Therefore tokens are plain strings in a list, and their
    lines and columns are computed only for errors. An empty string marks the end of the readable tokens.
    """

    def __init__(self, text: str, id: str, first_line: int) -> None:
        self._id = id
        self._lines = LINE_ENDS.split(text)
        self._first_line = first_line
        self._tokens: list[str] = []
        for line in self._lines:
            self._tokens += _TOKEN.findall(line)
        self._amount = len(self._tokens)
        # A quotation mark that is not closed, or a tilde without a number, is an error. Let the parser read
        # only the tokens before it, so that it reports errors in these tokens first.
        unreadable = [self._tokens.index(mark) for mark in ('"', "~") if mark in self._tokens]
        if not text.isascii() and SURROGATE.search(text):
            unreadable.append(next(at for at, token in enumerate(self._tokens) if SURROGATE.search(token)))
        self._unreadable = min(unreadable, default=self._amount)
        self._tokens[self._unreadable :] = [""]
        self._metadata: list[str] = []
        self._nodes: list[list[Any]] = []
        self._introduced: list[int] = []
        self._atoms: list[int] = []
        self._variables: dict[str, int] = {}

    def read(self) -> AmrGraph:
        """Return the graph. Raises `PenmanError` unless the text is exactly one well-formed graph."""
        tokens, at = self._tokens, 0
        while tokens[at].startswith("#"):
            self._metadata.append(tokens[at])
            at += 1
        if tokens[at] != "(":
            self._refuse_end(at, "no-graph", "there is no graph here")
            raise self._error("syntax", f"expected '(' but found {tokens[at]!r}", at)
        at = self._graph(at)
        if at < self._unreadable:
            raise self._error("trailing-text", f"unexpected {tokens[at][:40]!r} after the graph", at)
        self._refuse_unreadable(at)
        return self._finished()

    def node_lines(self) -> list[int]:
        """Return, for each node, the number of the line in which it is introduced."""
        mentioned = self._mentioned()
        places = self._token_positions()
        return [places[at][0] for k, at in enumerate(self._introduced) if k not in mentioned]

    def _graph(self, at: int) -> int:
        """Read a graph from its first to its last parenthesis, and return the index of the next token."""
        tokens, nodes, variables = self._tokens, self._nodes, self._variables
        up = role = role_align = None
        pos = 0
        open_nodes: list[int] = []
        branches: list[int] = []
        while True:
            k, variable, concept, value, align = len(nodes), None, None, None, None
            if tokens[at] == "(":
                if len(open_nodes) >= MAX_DEPTH:
                    raise self._error("too-deep", f"nested more than {MAX_DEPTH} deep", at)
                variable = tokens[at + 1]
                if variable[:1] in _NO_SYMBOL or variable in variables:
                    raise self._no_instance(at)
                if tokens[at + 2] != "/" or tokens[at + 3][:1] in _NO_ATOM:
                    raise self._no_instance(at)
                concept = tokens[at + 3]
                variables[variable] = k
                open_nodes.append(k)
                branches.append(0)
                self._introduced.append(at + 1)
                at += 4
            elif tokens[at][:1] in _NO_ATOM:
                self._refuse_end(at)
                before = at - 1 - (role_align is not None)
                raise self._error("dangling-role", f"role :{role} has no target", before)
            else:
                value = tokens[at]
                self._atoms.append(k)
                self._introduced.append(at)
                at += 1
            if tokens[at][:1] == "~":
                align, at = tokens[at], at + 1
            nodes.append([k, k, variable, concept, value, up, role, pos, align, role_align])
            # A closing parenthesis ends the subtree of a node. The last index in the subtree is the highest
            # index so far.
            while tokens[at] == ")":
                nodes[open_nodes.pop()][1] = len(nodes) - 1
                branches.pop()
                at += 1
                if not open_nodes:
                    return at
            # After a node and its closing parentheses, the next token must be a role, such as ":ARG0".
            if tokens[at][:1] != ":" or tokens[at] == ":":
                raise self._no_role(at)
            up, role, pos, role_align = open_nodes[-1], tokens[at][1:], branches[-1], None
            branches[-1] += 1
            at += 1
            if tokens[at][:1] == "~":
                role_align, at = tokens[at], at + 1

    def _mentioned(self) -> set[int]:
        """Return the indices of the atoms that repeat a variable, such as ``i`` in ``:ARG0 i``."""
        return {k for k in self._atoms if self._nodes[k][4] in self._variables}

    def _finished(self) -> AmrGraph:
        """Return the graph, after separating repeated variables from constants.

        In ``:ARG0 i``, ``i`` may be a constant, or a variable that is introduced later. So each of them gets
        a node index at first. When the whole graph has been read, the repeated variables lose their indices,
        and the nodes after them are renumbered.
        """
        mentioned = self._mentioned()
        nodes: list[AmrNode] = []
        mentions: list[Mention] = []
        if not mentioned:
            nodes = [AmrNode._make(fields) for fields in self._nodes]
        else:
            # For each old index, count the repeated variables up to this index. They lose their indices, so
            # the new index of a node is its old index minus this number.
            skipped = list(accumulate(old in mentioned for old in range(len(self._nodes))))
            for old, row in enumerate(self._nodes):
                _, last, var, concept, value, up, role, pos, align, role_align = row
                above = None if up is None else up - skipped[up]
                if old in mentioned:
                    target = self._variables[value] - skipped[self._variables[value]]
                    mentions.append(Mention(above or 0, role, pos, target, align, role_align))
                else:
                    k, last = old - skipped[old], last - skipped[last]
                    nodes.append(AmrNode(k, last, var, concept, value, above, role, pos, align, role_align))
        mentions.sort(key=itemgetter(0, 2))
        spans = {node.position: span for node in nodes if (span := token_span(node.align)) is not None}
        return AmrGraph(self._id, tuple(nodes), tuple(mentions), tuple(self._metadata), spans)

    def _no_role(self, at: int) -> PenmanError:
        """Return the error for a token that is neither a role nor a closing parenthesis."""
        self._refuse_end(at)
        token = self._tokens[at]
        if token == "/":
            return self._error("duplicate-instance", "a variable has a second concept", at)
        if token == ":":
            return self._error("empty-role", "a role without a name", at)
        return self._error("syntax", f"expected a role or ')' but found {token!r}", at)

    def _no_instance(self, at: int) -> PenmanError:
        """Return the error for an opening parenthesis without a variable and a concept after it."""
        self._refuse_end(at + 1)
        variable = self._tokens[at + 1]
        if variable[:1] in _NO_SYMBOL:
            return self._error("syntax", f"expected a variable but found {variable!r}", at + 1)
        if variable in self._variables:
            return self._error("duplicate-variable", f"variable {variable} is introduced twice", at + 1)
        self._refuse_end(at + 2)
        slash = self._tokens[at + 2] == "/"
        if slash:
            self._refuse_end(at + 3)
        return self._error("no-concept", f"variable {variable} has no concept", at + 1 + slash)

    def _refuse_end(
        self,
        at: int,
        code: str = "unclosed",
        message: str = "the graph ends inside a parenthesis",
    ) -> None:
        """Raise `PenmanError` if there is no token with the index ``at``, or if this token is a comment."""
        self._refuse_unreadable(at)
        if at == self._unreadable:
            raise self._error(code, message, at - 1)
        if self._tokens[at].startswith("#"):
            raise self._error("syntax", "a comment inside the graph", at)

    def _refuse_unreadable(self, at: int) -> None:
        """Check that the token is readable.

        Raises:
            PenmanError: The token is a lone quotation mark or tilde, or it contains a lone surrogate.
        """
        if not at == self._unreadable < self._amount:
            return
        line, column, token = self._token_positions()[at]
        surrogate = SURROGATE.search(token)
        if surrogate:
            column += surrogate.start()
            raise PenmanError("not-unicode", "a lone surrogate, which is not a character", line, column)
        raise PenmanError("syntax", f"unexpected character {token!r}", line, column)

    def _error(self, code: str, message: str, at: int) -> PenmanError:
        line, column, _ = self._token_positions()[at] if at >= 0 else (self._first_line, 1, "")
        return PenmanError(code, message, line, column)

    def _token_positions(self) -> list[tuple[int, int, str]]:
        """Return the line, the column and the text of each token."""
        return [
            (number, match.start() + 1, match[0])
            for number, line in enumerate(self._lines, self._first_line)
            for match in _TOKEN.finditer(line)
        ]


# Pattern of a concept or a constant: a symbol, or a string in quotation marks.
_ATOM = re.compile(r'(?!\#)[^ \t\r\n\v\f"()/:~]+|"(?:[^"\\\r\n]|\\[^\r\n])*"')
_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[()]')
# Pattern of a ``::key value`` pair in a comment line. The value ends before the next key.
_METADATA = re.compile(r"(?<![^\s#])::(\S+)(?:\s(.*?))?(?=\s+::\S|\s*$)")
# Roles that end in *-of* but are not inverse.
_UNWRITTEN_INVERSE = frozenset({"consist-of", "prep-out-of", "prep-on-behalf-of"})


def is_inverted(role: str) -> bool:
    """Return whether a role is inverse: the predicate is then below its argument, as in ``:ARG0-of``.

    Args:
        role: The role without its colon.

    Returns:
        True if the role is inverse.

    Example:
        >>> is_inverted("ARG0-of"), is_inverted("consist-of"), is_inverted("consist-of-of")
        (True, False, True)
    """
    return role.endswith("-of") and role not in _UNWRITTEN_INVERSE


def is_atom(text: str) -> bool:
    """Return whether a text can be written as a concept or a constant in PENMAN notation.

    Args:
        text: The text. A string must include its quotation marks.

    Returns:
        True if the text can be written.

    Example:
        >>> is_atom("like-01"), is_atom('"New York"'), is_atom("New York")
        (True, True, False)
    """
    return _ATOM.fullmatch(text) is not None and not SURROGATE.search(text)


def parse_graph(text: str, id: str = "", first_line: int = 1) -> AmrGraph:
    """Read one graph with its comment lines.

    Raises `PenmanError` unless the text is exactly one well-formed graph. The error's ``code`` is one of
    ``syntax``, ``no-graph``, ``unclosed``, ``trailing-text``, ``no-concept``, ``duplicate-instance``,
    ``dangling-role``, ``empty-role``, ``duplicate-variable``, ``too-deep`` and ``not-unicode``.

    Args:
        text: The graph in PENMAN notation.
        id: The id that the graph gets.
        first_line: The number of the text's first line in its file, for error messages.

    Returns:
        The graph, with its comment lines in ``metadata``.
    """
    return _GraphReader(text, id, first_line).read()


def parse_located(text: str, id: str = "", first_line: int = 1) -> tuple[AmrGraph, list[int]]:
    """Read one graph as `parse_graph` does, and also return the line number of each node.

    Args:
        text: The graph in PENMAN notation.
        id: The id that the graph gets.
        first_line: The number of the text's first line in its file.

    Returns:
        The graph, and for each node the number of the line in which it is introduced.
    """
    reader = _GraphReader(text, id, first_line)
    return reader.read(), reader.node_lines()


def format_graph(graph: AmrGraph) -> str:
    """Write a graph in the layout of the ``penman`` package, after its comment lines.

    Args:
        graph: The graph to write.

    Returns:
        The text, without a final line end.

    Example:
        >>> print(format_graph(parse_graph("(l / like-01 :ARG0 (i / i) :polarity -)")))
        (l / like-01
           :ARG0 (i / i)
           :polarity -)
    """
    text = penman.format(Tree(tree_node(graph)))
    return "\n".join((*graph.metadata, text))


def flat_graph(graph: AmrGraph) -> str:
    r"""Write a graph on one line, without comment lines and alignment marks.

    The generation models of amrlib 0.8.1 (``models/generate_xfm``) were trained on graphs in this form.

    Args:
        graph: The graph to write.

    Returns:
        The graph as one line of text, without a line end.

    Example:
        >>> flat_graph(parse_graph("# ::id 1\n(l / like-01~e.1\n   :ARG0 (i / i))"))
        '(l / like-01 :ARG0 (i / i))'
    """
    bare = replace(
        graph,
        metadata=(),
        nodes=tuple(node._replace(align=None, role_align=None) for node in graph.nodes),
        mentions=tuple(mention._replace(align=None, role_align=None) for mention in graph.mentions),
    )
    return " ".join(format_graph(bare).split())


def tree_node(graph: AmrGraph) -> tuple[str, list[Any]]:
    """Convert a graph into the top node of a ``penman`` tree.

    Args:
        graph: The graph to convert.

    Returns:
        A tuple ``(variable, [(role, target), ...])``, in which a target is a string or such a tuple.

    Raises:
        ValueError: The graph has no top.
    """
    branches: list[list[tuple[int, str, Any]]] = [[] for _ in graph.nodes]
    for mention in graph.mentions:
        target = (graph.nodes[mention.target].var or "") + (mention.align or "")
        branches[mention.parent].append(
            (mention.branch, f":{mention.role}{mention.role_align or ''}", target)
        )
    # Children have higher indices than their parents. In reverse order, each node is converted after its
    # children, so no recursion is needed.
    for node in reversed(graph.nodes):
        if node.value is not None:
            written: Any = node.value + (node.align or "")
        else:
            below = branches[node.position]
            below.sort(key=itemgetter(0))
            written = (node.var, [("/", f"{node.concept}{node.align or ''}"), *[b[1:] for b in below]])
        if node.parent is None:
            return written
        branches[node.parent].append((node.branch, f":{node.role}{node.role_align or ''}", written))
    raise ValueError(f"graph {graph.id!r} has no top")


def metadata(lines: Sequence[str]) -> dict[str, str]:
    """Return the ``::key value`` pairs of comment lines.

    Args:
        lines: The comment lines of a graph.

    Returns:
        The values, keyed by the key without its colons. If a key occurs several times, the result has its
        last value.

    Example:
        >>> metadata(["# ::id lpp.1 ::date today", "# ::snt Chapter 1 ."])
        {'id': 'lpp.1', 'date': 'today', 'snt': 'Chapter 1 .'}
    """
    pairs: dict[str, str] = {}
    for line in lines:
        for key, value in _METADATA.findall(line):
            pairs[key] = value.strip()
    return pairs


def iter_blocks(lines: Iterator[str] | Sequence[str] | str) -> Iterator[tuple[int, str]]:
    """Split the text of a PENMAN file into blocks. Each block contains one graph with its comment lines.

    A block ends at the parenthesis that closes the whole graph. If this parenthesis is missing, the block
    ends before the next comment line or the next ``(`` in the first column, so that a malformed graph does
    not affect the graphs after it. Comment lines before a blank line do not belong to a graph and are
    skipped. But if they contain ``::snt`` or ``::id``, their graph is missing, and they form a separate
    block.

    Args:
        lines: The text of the file, or its lines.

    Yields:
        For each block, the number of its first line and its text.
    """
    block: list[str] = []
    start, depth, begun = 1, 0, False

    def is_graph() -> bool:
        return begun or any("::id" in written or "::snt" in written for written in block)

    for number, raw in enumerate(LINE_ENDS.split(lines) if isinstance(lines, str) else lines, 1):
        line = raw.rstrip("\r\n")
        is_comment, is_blank = line.startswith("#"), not line.strip()
        # End a block without a complete graph. There are two cases: the graph lacks a closing parenthesis
        # when the next comment or graph begins, or the block has only comments and a blank line follows.
        if block and ((is_comment or line.startswith("(")) if begun else is_blank):
            if is_graph():
                yield start, "\n".join(block)
            block, depth, begun = [], 0, False
        if not block:
            start = number
        if is_comment:
            block.append(line)
            continue
        for piece, reached in _split_after_graphs(line, depth):
            depth = reached
            block.append(piece)
            begun = begun or bool(piece.strip())
            if depth <= 0 and begun and ")" in piece:
                yield start, "\n".join(block)
                block, depth, begun, start = [], 0, False, number
    if block and is_graph():
        yield start, "\n".join(block)


def _split_after_graphs(line: str, depth: int) -> Iterator[tuple[str, int]]:
    """Split a line after each parenthesis that closes a graph.

    Yields:
        The parts of the line, each with the number of parentheses that are still open at its end.
    """
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
