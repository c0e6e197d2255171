"""Apply edits to a graph and return the edited graph; the original stays unchanged.

There are six operations. ``set`` replaces a concept or constant, ``add`` adds a leaf, ``drop`` removes a
subtree, ``graft`` copies a subtree from another graph, ``wrap`` inserts a new node above a node, and ``say``
replaces a graph by a sentence of another turn in a reply frame, such as "Why do you want to ...?". Each
operation keeps the graph well formed or raises an error: the graph stays one tree with unique variables,
every reentrancy keeps its target, and ``:sntN`` and ``:opN`` are numbered without gaps. The graph is
converted into a tree of mutable nodes (`graphneg.amr.mutable_tree`), edited, and converted back.
`apply_edits` takes a graph, the edits, and the graphs from which subtrees are copied.

>>> from graphneg.amr.penman import format_graph, parse_graph
>>> graph = parse_graph("(w / work-01 :ARG0 (i / i) :ARG2 (b / bank))", "a")
>>> edit = Edit("example", "", "site", "set", "a", 2, concept="shop")
>>> format_graph(apply_edits(graph, [edit], {})).splitlines()[-1]
'   :ARG2 (s / shop))'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from graphneg.amr.mutable_tree import MutableNode, freeze, letter, mutable_nodes
from graphneg.amr.penman import is_atom, parse_graph
from graphneg.amr.wellformed import check
from graphneg.english.reply_frames import CLAUSE, reply_frame
from graphneg.errors import TransformError
from graphneg.model import AmrGraph, Edit

WANTING = "want-01"
"""Concept above a repeated request: "I want you to sit down." """
KNOWING = "know-01"
"""Concept above a repeated question: "I don't know when the bus leaves." """


# Concepts of pronouns. If a copied subtree refers to a pronoun outside the subtree, such as ``i``, this
# reference is redirected to the ``i`` of the edited graph.
PRONOUNS = frozenset({"i", "you", "he", "she", "it", "we", "they", "one"})
_NUMBERED = re.compile(r"^(op|snt)(\d+)$")


def apply_edits(graph: AmrGraph, edits: Sequence[Edit], sources: Mapping[str, AmrGraph]) -> AmrGraph:
    """Apply edits to a graph.

    Args:
        graph: The graph to edit; it stays unchanged.
        edits: The edits in the order in which to apply them. Their node indices refer to the graph before all
            edits.
        sources: The graphs from which ``graft`` and ``say`` copy subtrees, keyed by id.

    Returns:
        The edited graph. Its nodes are renumbered, and its comment lines are dropped, because they describe
        the original graph. If there are no edits, ``graph`` itself is returned.

    Raises:
        TransformError: An edit refers to a node that does not exist, an edit would make the graph ill-formed
            (for example, a constant would get children), or the edited graph has a defect.
    """
    after = apply_edits_unchecked(graph, edits, sources)[0]
    for defect in check(after) if edits else ():
        raise TransformError(f"{defect.code}: {defect.message}")
    return after


def apply_edits_unchecked(
    graph: AmrGraph, edits: Sequence[Edit], sources: Mapping[str, AmrGraph]
) -> tuple[AmrGraph, dict[tuple[str, int], int]]:
    """Apply edits as `apply_edits` does, but do not check whether the edited graph is well formed.

    Args:
        graph: The graph to edit; it stays unchanged.
        edits: The edits in the order in which to apply them.
        sources: The graphs from which ``graft`` and ``say`` copy subtrees, keyed by id.

    Returns:
        The edited graph, and the new node indices, keyed by graph id and old node index. For a copied node,
        the graph id and the old index are those in the source graph.
    """
    if not edits:
        return graph, {(graph.id, node.position): node.position for node in graph.nodes}
    return _Tree(graph).apply(edits, sources)


def restate(graph: AmrGraph, voice: str | None, changes: Sequence[Edit]) -> tuple[AmrGraph, dict[int, int]]:
    """Return the graph of what a reply says about an earlier turn.

    For example, the turn is "I like tea.", and the reply is "Why don't you like tea?" The reply assumes that
    "you don't like tea", and the result is the graph of these words. Its nodes are still aligned with the
    tokens of the turn.

    Args:
        graph: The graph of the earlier turn; it stays unchanged.
        voice: ``other`` if turn and reply have different speakers, so that *I* becomes *you*. Other values
            keep the pronouns.
        changes: The edits that turn "I like tea" into "I don't like tea". Their ``copy_of`` is the id of the
            graph.

    Returns:
        The changed graph, and the new node indices, keyed by old node index.

    Raises:
        TransformError: An edit cannot be applied.
    """  # noqa: DOC502
    tree = _Tree(graph)
    if voice == "other":
        tree.exchange_speakers()
    after, places = tree.apply([edit._replace(amr=graph.id, copy_of=None) for edit in changes], {})
    return after, {k: place for (_, k), place in places.items()}


class _Tree:
    """A graph to which edits are being applied."""

    def __init__(self, graph: AmrGraph) -> None:
        self._graph = graph
        self._nodes = mutable_nodes(graph)
        self._top = self._nodes[(graph.id, 0)]
        self._mentions = bool(graph.mentions)
        self._mentioned: dict[tuple[str, int], list[MutableNode]] = {}
        # The top node of the sentence that the operation "say" has copied; None if it has copied no sentence.
        # In the graph of "Why do you like tea?", the top node of "you like tea".
        self._said: MutableNode | None = None
        # Nodes that the operation "say" has added below the top node of the copied sentence. For "So you like
        # tea?", this is ``:mode interrogative``.
        self._marks: list[MutableNode] = []

    def apply(
        self, edits: Sequence[Edit], sources: Mapping[str, AmrGraph]
    ) -> tuple[AmrGraph, dict[tuple[str, int], int]]:
        """Apply edits, and convert the edited tree into a graph.

        Returns:
            The edited graph, and the new node indices, keyed by graph id and old node index.

        Raises:
            TransformError: An edit has an unknown operation.
        """
        operations: Mapping[str, Callable[[Edit], None]] = {
            "set": self._set,
            "add": self._add,
            "drop": self._drop,
            "graft": lambda edit: self._graft(edit, sources),
            "wrap": self._wrap,
            "say": lambda edit: self._say(edit, sources),
        }
        for edit in edits:
            if edit.op not in operations:
                raise TransformError(f"{_location_of(edit)}: unknown operation {edit.op!r}")
            operations[edit.op](edit)
        self._merge_frame_pronouns()
        return freeze(self._graph, self._top)

    def _at(self, edit: Edit) -> MutableNode:
        """Return the node that an edit refers to.

        Raises:
            TransformError: The graph has no such node.
        """
        # The position -1 means the present top of the graph, which an earlier edit may have added. For an
        # edit with ``copy_of``, -1 means the present top of the copied sentence.
        if edit.position == -1:
            return self._top if edit.copy_of is None or self._said is None else self._said
        key = (edit.copy_of or edit.amr, edit.position)
        if key in self._mentioned:
            self._introduce(key)
        node = self._nodes.get(key)
        if node is None:
            raise TransformError(f"{_location_of(edit)}: there is no node {edit.position}")
        return node

    def _set(self, edit: Edit) -> None:
        """Replace the concept or the constant of a node.

        Raises:
            TransformError: The edit has no concept for a node with a concept, or no value for a constant.
        """
        node = self._at(edit)
        if node.value is not None:
            if edit.value is None:
                raise TransformError(f"{_location_of(edit)}: the node is a constant: give its new 'value'")
            node.value = _atom(edit.value, edit)
        elif edit.concept is None:
            raise TransformError(f"{_location_of(edit)}: the node has a concept: give its new 'concept'")
        elif edit.concept != node.concept:
            # The variable of ``(b / bank)`` begins with the letter of its concept. If the concept becomes
            # ``shop``, delete the variable, so that `freeze` chooses a new one, such as ``s``.
            if node.var is not None and node.var[0] == letter(node.concept or ""):
                node.var = None
            node.concept = _atom(edit.concept, edit)
        else:
            return
        node.align = node.span = None

    def _add(self, edit: Edit) -> None:
        """Add a leaf such as ``:polarity -`` under a node.

        Raises:
            TransformError: The edit is incomplete, or the node already has a polarity or mode.
        """
        node = self._at(edit)
        if edit.role is None or (edit.concept is None) == (edit.value is None):
            raise TransformError(f"{_location_of(edit)}: 'add' needs a role and a concept or a value")
        _refuse_constant(node, edit)
        # Refuse a second polarity or mode, because it would contradict the existing polarity or mode.
        if edit.role in ("polarity", "mode") and any(child.role == edit.role for child in node.below):
            raise TransformError(f"{_location_of(edit)}: the node already has :{edit.role}")
        leaf = MutableNode(edit.role, edit.concept, edit.value)
        _atom(leaf.concept or leaf.value or "", edit)
        # The leaf becomes the first child, because annotators write polarity and mode before other roles.
        node.attach(leaf, 0)

    def _drop(self, edit: Edit) -> None:
        """Remove a subtree.

        If the position is -1, the edit names the role of the subtree to remove below the current top.

        Raises:
            TransformError: The node is the top, or the top has no child with this role.
        """
        node = self._at(edit)
        if edit.position == -1:
            child = next((child for child in node.below if child.role == edit.role), None)
            if child is None:
                raise TransformError(f"{_location_of(edit)}: the top has no role :{edit.role}")
            node = child
        parent = node.parent
        if parent is None:
            raise TransformError(f"{_location_of(edit)}: the top can't be dropped")
        role = node.role
        node.detach()
        self._keep_mentioned_nodes(node)
        _close_gap(parent, role)

    def _keep_mentioned_nodes(self, gone: MutableNode) -> None:
        """Keep the nodes of a removed subtree whose variables occur elsewhere in the graph.

        "I want to go" is ``(w / want-01 :ARG0 (i / i) :ARG1 (g / go-02 :ARG0 i))``. If ``(i / i)`` is
        removed, it takes the place of the second ``i``: ``(w / want-01 :ARG1 (g / go-02 :ARG0 (i / i)))``.
        """
        while self._mentions:
            lost = {id(node) for node in gone.walk()}
            mention = next(
                (t for t in self._top.walk() if t.target is not None and id(t.target) in lost), None
            )
            if mention is None:
                break
            kept, parent = mention.target, mention.parent
            assert kept is not None and parent is not None
            # Let the node `kept` and its mention (its repeated variable) change places. The old parent of
            # `kept` needs the mention as its argument if a later iteration keeps this parent, too.
            if kept is not gone:
                assert kept.parent is not None
                kept.parent.attach(MutableNode(kept.role, target=kept), kept.detach())
            kept.role, kept.role_align = mention.role, mention.role_align
            parent.attach(kept, mention.detach())
            if kept is gone:
                return
        for node in gone.walk():
            if node.key is not None:
                self._nodes.pop(node.key, None)

    def _graft(self, edit: Edit, sources: Mapping[str, AmrGraph]) -> None:
        """Copy a subtree of another graph under a node or, if the edit has no role, in place of the node.

        Raises:
            TransformError: The source graph or its node is missing, the source is the edited graph itself, or
                it has already been copied from.
        """
        source = _source_of(edit, sources)
        if source.id == self._graph.id and edit.op != "say":
            raise TransformError(f"{_location_of(edit)}: a graft must copy from another graph")
        node = self._at(edit)
        # If the operation "say" copies a sentence of the edited graph itself, the copy replaces the whole
        # graph. From now on, the id of the graph refers to the nodes of the copy.
        if source.id == self._graph.id:
            self._nodes.clear()
        # Later edits refer to a copied node by the id of its source graph and its number in that graph.
        # Refuse a second copy of the same graph, because these references would be ambiguous.
        if any(key[0] == source.id for key in self._nodes):
            raise TransformError(f"{_location_of(edit)}: {source.id} is already grafted here")
        place = node if edit.role is not None else node.parent
        if place is not None:
            _refuse_constant(place, edit)
        copy = mutable_nodes(source)[(source.id, edit.from_position or 0)]
        if copy.parent is not None:
            copy.detach()
        # Remove variables and alignments, which are valid only in the source graph.
        for inner in copy.walk():
            inner.var = inner.align = inner.role_align = inner.span = None
        if source.mentions:
            self._mentions = True
            self._resolve_mentions(copy, None if edit.role is not None else node)
        if edit.role is not None:
            copy.role = _next_role(node, edit.role)
            node.attach(copy)
        else:
            # If the edit names no role, replace the node with the copied subtree.
            self._replace(node, copy)
        self._nodes.update({inner.key: inner for inner in copy.walk() if inner.key is not None})

    def _introduce(self, key: tuple[str, int]) -> None:
        """Turn a repeated variable in a copied subtree into a separate node, so that an edit can change it.

        The graph of "I'm leaving. I'm packing." contains the node ``(i / i)`` in its first sentence, and only
        its variable ``i`` in the second sentence. If the second sentence is copied and an edit changes *I* to
        *you* in the copy, the copy needs a node for *you*.
        """
        first, *others = self._mentioned.pop(key)
        if first.target is not None:
            first.concept, first.align, first.target = first.target.concept, None, None
        for mention in others:
            mention.target = first
        self._nodes[key] = first

    def _resolve_mentions(self, copy: MutableNode, leaving: MutableNode | None) -> None:
        """Replace the variables in a copied subtree that refer to nodes outside the subtree.

        A variable for a pronoun, such as ``i``, is redirected to the same pronoun of the edited graph if
        there is one. Any other variable is replaced by a copy of the node to which it refers, with the name
        of this node if it has one. The node ``leaving`` of the edited graph is ignored, because the copied
        subtree will replace it.
        """
        inside = {id(node) for node in copy.walk()}
        # The pronouns of the edited graph, keyed by concept. The copied subtree can refer to them.
        own = {t.concept: t for t in self._top.walk() if t.concept in PRONOUNS and t is not leaving}
        for node in list(copy.walk()):
            target = node.target
            if target is None or id(target) in inside:
                continue
            if target.key is not None:
                mentions = [node, *(later for later in copy.walk() if later.target is target)]
                self._mentioned.setdefault(target.key, list(dict.fromkeys(mentions)))
            concept = target.concept or ""
            if concept in own:
                node.target = own[concept]
                continue
            node.target, node.concept, node.align = None, concept, None
            inside.add(id(node))
            for later in copy.walk():
                if later.target is target:
                    later.target = node
            # If the copied node is an entity, copy its name, too. Without the name "Anna", a ``person`` would
            # be expressed as "a person".
            for child in target.below:
                if child.role == "name" and child.target is None:
                    node.attach(child.copied())

    def _replace(self, old: MutableNode, new: MutableNode) -> None:
        """Replace the subtree ``old`` with ``new``, and redirect mentions of the node ``old`` to ``new``.

        Raises:
            TransformError: A constant would replace a variable.
        """
        if new.concept is None and old.concept is not None:
            raise TransformError(f"{self._graph.id}: a constant can't take the place of a variable")
        for node in self._top.walk() if self._mentions else ():
            if node.target is old:
                node.target = new
        self._put_in_place_of(new, old)
        self._keep_mentioned_nodes(old)

    def _put_in_place_of(self, new: MutableNode, old: MutableNode) -> None:
        """Give the node ``new`` the parent, the role and the position of the node ``old``."""
        new.role, new.role_align = old.role, old.role_align
        if old.parent is None:
            self._top = new
        else:
            old.parent.attach(new, old.detach())

    def _wrap(self, edit: Edit) -> None:
        """Insert a new node between a node and its parent.

        Raises:
            TransformError: The edit has no concept or no role.
        """
        node = self._at(edit)
        if edit.concept is None or edit.role is None:
            raise TransformError(f"{_location_of(edit)}: 'wrap' needs a concept and a role")
        _refuse_constant(node, edit)
        above = MutableNode(None, _atom(edit.concept, edit))
        self._put_in_place_of(above, node)
        node.role, node.role_align = edit.role, None
        above.attach(node)
        if node is self._said:
            self._said = above
            # Move nodes such as ``:mode interrogative`` to the new top of the copied sentence.
            for mark in [child for child in node.below if child in self._marks]:
                mark.detach()
                above.attach(mark)
            self._share_subject(above, node)

    def _share_subject(self, above: MutableNode, clause: MutableNode) -> None:
        """Make the subject of a clause also the subject of the verb above it: *you* in *you want to go*."""
        role = _SUBJECT_ROLES.get(above.concept or "")
        subject = next((child for child in clause.below if child.role in ("ARG0", "ARG1", "domain")), None)
        if role is not None and subject is not None and subject.value is None:
            mention = MutableNode(role)
            mention.target = subject if subject.target is None else subject.target
            above.attach(mention)
            self._mentions = True

    def _say(self, edit: Edit, sources: Mapping[str, AmrGraph]) -> None:
        """Replace the graph by a copied sentence in a reply frame.

        "I like tea." of the other speaker, with the frame ``why``, becomes ``(c / cause-01 :ARG1 (l / like-01
        :ARG0 (y / you) :ARG1 (t / tea)) :ARG0 (a / amr-unknown))``: "Why do you like tea?"

        Raises:
            TransformError: The edit does not replace the whole graph, or its reply frame does not exist.
        """
        if edit.position != 0 or edit.role is not None:
            raise TransformError(
                f"{_location_of(edit)}: 'say' replaces a whole graph: position 0, without a role"
            )
        form = reply_frame(edit.frame or "", edit.voice or "")
        if form is None:
            raise TransformError(
                f"{_location_of(edit)}: no frame {edit.frame!r} for the voice {edit.voice!r}"
            )
        self._graft(edit, sources)
        if edit.concept == KNOWING:
            self._state_ignorance()
        elif edit.concept is not None:
            self._state_wish(_atom(edit.concept, edit))
        if edit.voice == "other":
            self.exchange_speakers()
        clause, frame = self._top, _frame_nodes(form.graph)
        self._said = clause
        place = next(node for node in frame.walk() if node.concept == CLAUSE)
        for child in list(place.below):
            child.detach()
            clause.attach(child)
            self._marks.append(child)
        if place is frame:
            return
        self._top = frame
        assert place.parent is not None
        clause.role = place.role
        place.parent.attach(clause, place.detach())

    def _merge_frame_pronouns(self) -> None:
        """Turn pronouns of the reply frame that the repeated sentence also contains into mentions.

        In "I'm surprised that you phoned me", the *I* of the frame becomes a mention of *me*, because both
        are the same person. This step comes after all edits, which may change the pronouns of the sentence.
        """
        clause = self._said
        if clause is None or clause is self._top:
            return
        own = {node.concept: node for node in clause.walk() if node.concept in _SWAPPED_PRONOUNS}
        for node in self._top.below:
            if node is not clause and node.concept in own:
                node.target, node.concept, self._mentions = own[node.concept], None, True

    def _state_wish(self, concept: str) -> None:
        """Put a copied request under a verb such as ``want-01``, with *I* as its subject.

        "Please sit down." ``(s / sit-down-02 :mode imperative :polite + :ARG1 (y / you))`` becomes "I want
        you to sit down": ``(w / want-01 :ARG1 (s / sit-down-02 :ARG1 (y / you)) :ARG0 (i / i))``.
        """
        action = self._top
        for mark in [child for child in action.below if child.role in _MARKS_OF_REQUESTS]:
            mark.detach()
        for child in action.below:
            # "Let's go" becomes "I want to go", because the wish is only the speaker's. So replace *we* by
            # *I*.
            if child.concept == "we" and child.role in ("ARG0", "ARG1"):
                child.concept, child.var = "i", None
        wish = MutableNode(None, concept)
        self._put_in_place_of(wish, action)
        action.role, action.role_align = "ARG1", None
        wish.attach(action)
        own = next((node for node in action.walk() if node.concept == "i"), None)
        wish.attach(MutableNode("ARG0", None if own else "i", target=own))
        self._mentions = self._mentions or own is not None

    def _state_ignorance(self) -> None:
        """Put a copied question under ``know-01`` with a negation, with *I* as the one who does not know.

        "When does it leave?" ``(l / leave-11 :ARG0 (i / it) :time (a / amr-unknown))`` becomes "I don't know
        when it leaves": ``(k / know-01 :polarity - :ARG1 (l / leave-11 ...) :ARG0 (i / i))``. A yes/no
        question is put under ``truth-value``: "I don't know whether it leaves."
        """
        asked = self._top
        marks = [child for child in asked.below if child.role == "mode"]
        polar = [child for child in asked.below if (child.role, child.concept) == ("polarity", "amr-unknown")]
        for mark in (*marks, *polar):
            mark.detach()
        knowing = MutableNode(None, KNOWING)
        self._put_in_place_of(knowing, asked)
        knowing.attach(MutableNode("polarity", value="-"))
        if polar:
            truth = MutableNode("ARG1", "truth-value")
            knowing.attach(truth)
            asked.role, asked.role_align = "polarity-of", None
            truth.attach(asked)
        else:
            asked.role, asked.role_align = "ARG1", None
            knowing.attach(asked)
        own = next((node for node in asked.walk() if node.concept == "i"), None)
        knowing.attach(MutableNode("ARG0", None if own else "i", target=own))
        self._mentions = self._mentions or own is not None

    def exchange_speakers(self) -> None:
        """Exchange *I* and *you*: the speaker of a reply calls the other speaker's *I* "you"."""
        for node in self._top.walk():
            if node.concept in _SWAPPED_PRONOUNS:
                node.concept, node.var = _SWAPPED_PRONOUNS[node.concept], None


# Verbs whose subject is also the subject of the clause below them, with the role of this subject. In "You
# want to go", *you* is the ARG0 of want-01.
_SUBJECT_ROLES = {WANTING: "ARG0", "obligate-01": "ARG1"}
# Roles of nodes that make a clause a request or a question.
_MARKS_OF_REQUESTS = frozenset({"mode", "polite", "polarity"})
# In a sentence that the other speaker repeats, *I* and *you* change places.
_SWAPPED_PRONOUNS = {"i": "you", "you": "i"}


def _frame_nodes(penman: str) -> MutableNode:
    """Return the graph of a reply frame (a template such as "So ...?") as a new mutable tree."""
    nodes = mutable_nodes(_parsed(penman))
    for node in nodes.values():
        # An edit finds a node by its key. Edits must not change the nodes of the template, so delete the
        # keys.
        node.key = node.var = None
    return next(iter(nodes.values()))


@cache
def _parsed(penman: str) -> AmrGraph:
    """Parse the graph of a reply frame, a template for replies such as "But you said ..."."""
    return parse_graph(penman, "frame")


def _source_of(edit: Edit, sources: Mapping[str, AmrGraph]) -> AmrGraph:
    """Return the source graph of an edit, from which the edit copies a subtree.

    Raises:
        TransformError: The graph or the node to copy is missing.
    """
    source = sources.get(edit.from_amr or "")
    if source is None or edit.from_position is None or not 0 <= edit.from_position < len(source.nodes):
        raise TransformError(
            f"{_location_of(edit)}: there is no node {edit.from_amr}.{edit.from_position} to graft"
        )
    return source


def _location_of(edit: Edit) -> str:
    """Return the transform and the node of an edit as text for error messages."""
    return f"{edit.transform} at {edit.amr}.{edit.position}"


def _atom(text: str, edit: Edit) -> str:
    """Return the text unchanged if PENMAN notation can express it as a concept or constant.

    Raises:
        TransformError: The text contains, for example, white space or parentheses.
    """
    if not is_atom(text):
        raise TransformError(f"{_location_of(edit)}: {text!r} can't be written as a concept or a value")
    return text


def _refuse_constant(node: MutableNode, edit: Edit) -> None:
    """Raise `TransformError` if the node is a constant, which cannot have roles."""
    if node.value is not None:
        raise TransformError(f"{_location_of(edit)}: a constant can't have roles")


def _next_role(node: MutableNode, role: str) -> str:
    """Add the next free number to the role ``op`` or ``snt``: ``op3`` after ``op2``. Keep other roles."""
    if role not in ("snt", "op"):
        return role
    taken = [int(m[2]) for child in node.below if (m := _NUMBERED.match(child.role or "")) and m[1] == role]
    return f"{role}{max(taken, default=0) + 1}"


def _close_gap(parent: MutableNode, role: str | None) -> None:
    """Renumber the ``:opN`` or ``:sntN`` that follow a removed child, so that the numbers have no gap."""
    gone = _NUMBERED.match(role or "")
    # If ``:op2`` was removed but the node has a second ``:op2``, the numbers have no gap.
    if gone is None or any(child.role == role for child in parent.below):
        return
    for child in parent.below:
        later = _NUMBERED.match(child.role or "")
        if later and later[1] == gone[1] and int(later[2]) > int(gone[2]):
            child.role = f"{later[1]}{int(later[2]) - 1}"
