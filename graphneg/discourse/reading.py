"""Read the clauses and the mentions of one graph, before they are compared with other turns.

A clause is a main predicate with its arguments. `Clauses` finds the heads; this module reads from the graph
and its text what the speaker does with each clause: its type, polarity, modality and tense, and whether the
speaker guesses it or reports what somebody else said. The core of a clause is the predicate that is compared
with other clauses. Usually it is the head. In "I think you must go", it is *go*.

A mention is a node that refers to a person or a thing: a pronoun, a name or a noun. The determiner of a noun
shows whether the noun refers to something known ("the car", "my car") or introduces a new thing ("a car").

Example: "I think you can't park the car here." is ``(t / think-01 :ARG0 (i / i) :ARG1 (p / possible-01
:polarity - :ARG1 (p2 / park-01 :ARG0 (y / you) :ARG1 (c / car) :location (h / here))))``. It has one clause,
with the head *think* and the core *park*: a hedged negative statement with the modality ``possible``. Its
mentions are *i*, *you* and the definite noun *car*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from graphneg.amr.clauses import Clauses
from graphneg.amr.reading import AmrView
from graphneg.amr.times import tense_of
from graphneg.discourse.words import values, words
from graphneg.english.noun_kinds import OTHER, kind_of, lexeme
from graphneg.english.tokens import sentences, tokenize

ClauseType = Literal["statement", "question", "request", "exclamation", "fragment"]
MentionKind = Literal["speaker", "addressee", "we", "pronoun", "name", "noun"]
Definiteness = Literal["definite", "indefinite", "bare"]

_TYPES: Mapping[str, ClauseType] = {
    "statement": "statement",
    "wish": "statement",
    "report": "statement",
    "answer": "statement",
    "question": "question",
    "order": "request",
    "exclamation": "exclamation",
    "formula": "exclamation",
    "fragment": "fragment",
}
"""Values of `ClauseReading.type`, keyed by the clause type in `graphneg.amr.clauses`. The type ``link`` is
left out: it is the type of nodes such as cause-01 (*because*), which join clauses."""
_SPEAKING: Mapping[str, MentionKind] = {"i": "speaker", "you": "addressee", "we": "we"}
SENTENCE_ENDS = frozenset({".", "?", "!", ";", "..."})
"""Tokens that end a sentence."""
NOBODY = -1
"""Value of `Mention.owner` if the text shows that a thing has an owner, but the graph does not contain it."""
_NOT_REFERRING = frozenset(
    {"mod", "unit", "quant", "consist-of", "vocative", "degree", "manner", "frequency", "time"}
)
"""Roles of nouns that only describe another word, and so mention nothing: *apple* in "apple pie"."""
_NO_MODIFIERS = frozenset({"poss", "polarity", "mode", "domain", "wiki", "polite", "vocative", "time"})
_LONGEST_ADDRESS = 2
"""Maximum number of words in a name that addresses somebody. Titles are not counted."""
_DEEPEST = 4
"""Maximum number of modals and opinions above the core of a clause. "I think you might have to go" has 3."""


@dataclass(frozen=True, slots=True)
class ClauseReading:
    """A clause of a graph.

    Attributes:
        head: The index of the head node.
        core: The index of the predicate below modals and opinions. Often it is the head itself.
        type: What the speaker does with the clause.
        negative: Whether the clause is denied. In "I don't think it's late", *late* is denied.
        modality: ``none``, ``possible``, ``obligatory``, ``recommended``, ``wanted`` or ``permitted``.
        tense: ``past``, ``present``, ``future`` or ``mixed``, taken from the sentence.
        hedged: Whether the speaker marks the clause as a guess: "I think", "maybe".
        reported: Whether the speaker reports what somebody else said: "He said that it's late."
        self_contained: Whether the sentence keeps its meaning if a later turn repeats it.
        asked: The roles that the clause asks for; ``polarity`` for a yes/no question.
    """

    head: int
    core: int
    type: ClauseType
    negative: bool
    modality: str
    tense: str
    hedged: bool
    reported: bool
    self_contained: bool
    asked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mention:
    """A node that refers to a person or a thing.

    Attributes:
        position: The index of the node.
        kind: How it refers: as *I*, as *you*, as *we*, as another pronoun, by a name or by a noun.
        head: The pronoun, the name in lower case, or the lexeme of the noun.
        name: The name as it is written; for other mentions the head.
        noun_kind: The kind of the noun, such as ``person``.
        gender: ``male``, ``female``, or empty if the word does not show it.
        number: ``singular``, ``plural``, or empty if the text does not show it.
        definiteness: For a noun, ``definite`` (*the car*), ``indefinite`` (*a car*), or ``bare`` if it has no
            determiner.
        modifiers: The modifiers of the noun in the graph, without determiners and the owner.
        owner: The index of the possessor's node; `NOBODY` if only the text shows a possessor; else None.
        named_pronoun: For the name in "I'm Mary", the index of the pronoun *I*; None for other mentions.
        is_address: Whether the speaker addresses somebody with the name ("Hi, Mary").
        is_argument: Whether the node is an argument of a predicate, so that a later pronoun can refer to it.
        sort_key: Sort key by which mentions are resolved: the position in the text, or in the graph if the
            node is not aligned with the text.
    """

    position: int
    kind: MentionKind
    head: str
    name: str
    noun_kind: str = OTHER
    gender: str = ""
    number: str = ""
    definiteness: Definiteness = "bare"
    modifiers: frozenset[str] = frozenset()
    owner: int | None = None
    named_pronoun: int | None = None
    is_address: bool = False
    is_argument: bool = True
    sort_key: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Reading:
    """The clauses and mentions of one graph.

    Attributes:
        view: The graph.
        clauses: The clauses, in the order of their heads.
        mentions: The mentions, in the order of the text.
    """

    view: AmrView
    clauses: tuple[ClauseReading, ...]
    mentions: tuple[Mention, ...]


def read_graph(view: AmrView, clauses: Clauses, facts: Sequence[Mapping[str, Any]], text: str) -> Reading:
    """Read the clauses and mentions of a graph.

    Args:
        view: The graph.
        clauses: The heads of its clauses.
        facts: The properties of its nodes, by node index, as `graphneg.amr.facts` computes them.
        text: The text whose meaning the graph represents.

    Returns:
        The clauses and mentions.
    """
    reader = _Reader(view, clauses, facts, text)
    return Reading(view, tuple(reader.clauses()), tuple(reader.mentions()))


class _Reader:
    def __init__(
        self, view: AmrView, clauses: Clauses, facts: Sequence[Mapping[str, Any]], text: str
    ) -> None:
        self._view, self._clauses, self._facts, self._text = view, clauses, facts, text
        self._spans = view.graph.spans
        self._tokens = [token.text.lower() for token in tokenize(text)]
        self._tenses: dict[tuple[int, int], str] = {}
        self._whole_tense: str | None = None

    # Clauses

    def clauses(self) -> list[ClauseReading]:
        """Return the clauses in the order of their heads."""
        return [clause for head in self._clauses.heads if (clause := self._clause(head)) is not None]

    def _clause(self, head: int) -> ClauseReading | None:
        view, known = self._view, self._facts[head]
        found = _TYPES.get(known.get("clause_type", ""))
        # "It rained because ..." has two clauses. The node that links them, cause-01, is not a clause itself.
        if found is None or view.labels[head] in words("no-clause"):
            return None
        core, modality, hedged, denials = head, "none", False, self._denials(head)
        for _ in range(_DEEPEST):
            label = view.labels[core]
            below = self._embedded_predicate(core, label)
            if below is None:
                break
            if label in words("raised"):
                modality = values("modalities")[label]
            else:
                hedged = True
            core = below
            denials += self._denials(core)
        label = view.labels[core]
        # In "I want to go", the verb "want" only expresses a modality of "go". In "I want a car", "want" is
        # itself the predicate, so the clause has no modality.
        if modality == "none" and label in values("modalities") and self._has_frame_below(core):
            modality = values("modalities")[label]
        asked: tuple[str, ...] = ()
        if found == "question":
            asked = tuple(
                dict.fromkeys(view.roles[at] for at in view.question_nodes if at in view.subtree(head))
            )
        return ClauseReading(
            head,
            core,
            found,
            denials % 2 == 1,
            modality,
            self._tense(head),
            hedged or self._has_hedge(head, core),
            self._is_reported(head),
            known.get("repeatable") == "anywhere",
            asked,
        )

    def _embedded_predicate(self, k: int, label: str) -> int | None:
        """Return the predicate below a modal or an opinion, such as *late* in "I think it is late"."""
        view = self._view
        if label in words("raised"):
            # The clause below obligate-01 ("must") is its :ARG2, because its :ARG1 is the person who must
            # act. The clause below all other modals is their :ARG1.
            roles = ("ARG2", "ARG1") if label == "obligate-01" else ("ARG1",)
        elif label in words("opinions"):
            subject = next((c.label for c in view.children[k] if c.role in ("ARG0", "experiencer")), None)
            # "I think it is late" is a claim that it is late. "He thinks it is late" is not, so skip it.
            if subject not in (None, "i"):
                return None
            roles = ("ARG1", "ARG2")
        else:
            return None
        for role in roles:
            for child in view.children[k]:
                # The argument must be a predicate. In "I think of you", it is not, so there is no embedded
                # clause.
                if child.role == role and self._is_predicate(child.position):
                    return child.position
        return None

    def _is_predicate(self, k: int) -> bool:
        """Return whether a node is a predicate: a frame, or a noun or adjective with a subject."""
        view = self._view
        return view.is_frame[k] or any(child.role == "domain" for child in view.children[k])

    def _has_frame_below(self, k: int) -> bool:
        view = self._view
        return any(child.role == "ARG1" and view.is_frame[child.position] for child in view.children[k])

    def _denials(self, k: int) -> int:
        """Return the number of negations at a node: "not", "never", "nobody"."""
        view = self._view
        # Count *no* as a negation if it is the whole utterance ("No."), but not if it is an answer before a
        # clause ("No, I go").
        own = int(view.nodes[k].parent is None or not view.is_frame[k]) * int(view.is_a(k, "negative"))
        return own + sum(
            (child.role == "polarity" and child.value == "-")
            # In "No, I go", *no* is an answer and does not deny the clause.
            or (view.is_a(child.position, "negative") and child.label != "no")
            for child in view.children[k]
        )

    def _has_hedge(self, head: int, core: int) -> bool:
        view = self._view
        return any(child.label in words("hedges") for at in {head, core} for child in view.children[at]) or (
            view.labels[head] == "likely-01"
        )

    def _is_reported(self, head: int) -> bool:
        """Return whether a clause reports what somebody other than the speaker said: "He said that ..."."""
        view, at = self._view, self._view.nodes[head].parent
        while at is not None:
            # In "But it's late", contrast-01 is above the clause. It joins clauses and does not report
            # speech.
            if view.is_a(at, "reporting", "replying") and not view.is_a(at, "joining"):
                by = next((view.labels[of] for role, of in view.roles_out[at] if role == "ARG0"), None)
                # "I said that it was late" reports the speaker's own words, so it counts as a claim of the
                # speaker.
                return by != "i"
            at = view.nodes[at].parent
        return False

    def _tense(self, head: int) -> str:
        view, spans = self._view, self._spans
        places = [spans[at] for at in view.subtree(head) if at in spans]
        if not places:
            return self._tense_without_alignment(head)
        tokens = self._tokens
        first, last = min(start for start, _ in places), max(end for _, end in places)
        if last > len(tokens):
            return self._tense_without_alignment(head)
        while first and tokens[first - 1] not in SENTENCE_ENDS:
            first -= 1
        while last < len(tokens) and tokens[last] not in SENTENCE_ENDS:
            last += 1
        if (first, last) not in self._tenses:
            self._tenses[first, last] = tense_of(" ".join(tokens[first:last]), view.lexicon)
        return self._tenses[first, last]

    def _tense_without_alignment(self, head: int) -> str:
        view = self._view
        tops = [child.position for child in view.children[0]] if view.is_multiple else [0]
        parts = list(sentences(self._text)) if view.is_multiple else [self._text]
        top = view.sentences[head]
        # If graph and text do not have the same number of sentences, use the tense of the whole text.
        if len(tops) == len(parts) and top in tops:
            # Tokenize the sentence, because `tense_of` recognises "didn't" as past only as "did n't".
            return tense_of(" ".join(token.text for token in tokenize(parts[tops.index(top)])), view.lexicon)
        if self._whole_tense is None:
            self._whole_tense = tense_of(" ".join(self._tokens), view.lexicon)
        return self._whole_tense

    # Mentions

    def mentions(self) -> list[Mention]:
        """Return the mentions in the order of the text."""
        found = [mention for k in range(self._view.size) if (mention := self._mention(k)) is not None]
        return sorted(found, key=lambda mention: mention.sort_key)

    def _mention(self, k: int) -> Mention | None:
        view, label = self._view, self._view.labels[k]
        node = view.nodes[k]
        if node.concept is None or view.is_frame[k]:
            return None
        place = (self._spans[k][0] if k in self._spans else k, k)
        if label in _SPEAKING:
            return Mention(k, _SPEAKING[label], label, label, "person", sort_key=place)
        if label in values("pronouns"):
            # In "It rains", *it* refers to nothing, so it is not a mention.
            return (
                None
                if self._facts[k].get("expletive")
                else Mention(k, "pronoun", label, label, sort_key=place)
            )
        if self._facts[k].get("has_name"):
            return self._named_mention(k, place)
        return self._noun(k, place)

    def _named_mention(self, k: int, place: tuple[int, int]) -> Mention | None:
        """Return the mention for a name, without titles such as "Mrs"; None if there are only titles."""
        view = self._view
        name = next((at for role, at in view.roles_out[k] if role == "name"), None)
        parts = [view.labels[at].strip('"') for at in view.descendants(name)] if name is not None else []
        genders = values("titles")
        gender = next((genders[part.lower()] for part in parts if part.lower() in genders), "")
        own = [part for part in parts if self._is_proper(part.lower())]
        # In (museum :name "Museum"), the name only repeats the noun, so it is not a name.
        if not own or " ".join(own).lower() == lexeme(view.labels[k]):
            return None
        role = view.roles[k]
        kind = view.kinds[k]
        return Mention(
            k,
            "name",
            " ".join(own).lower(),
            " ".join(own),
            kind,
            gender,
            "singular",
            "definite",
            named_pronoun=self._namesake(k),
            is_address=role == "vocative" and self._is_address(k, own),
            is_argument=role.startswith("ARG") or role in ("domain", "location", "accompanier", "op1"),
            sort_key=place,
        )

    def _is_address(self, k: int, name: list[str]) -> bool:
        """Return whether a name addresses somebody: it comes first, or after a comma or a word like "hi"."""
        # A name with many words or a word in capitals does not address anybody: "Gunpowder, compass, and
        # printing" is a list of things, and nobody is called "MSG".
        is_person = len(name) <= _LONGEST_ADDRESS and not any(part.isupper() for part in name)
        if not is_person or kind_of(name[0].lower()) not in (OTHER, "person"):
            return False
        start = self._spans[k][0] if k in self._spans else None
        if start is None or start == 0 or start > len(self._tokens):
            return True
        # In "my sister, Mary", the name belongs to the noun before it, so it does not address anybody.
        if start > 1 and kind_of(self._tokens[start - 2]) == "person":
            return False
        return self._tokens[start - 1] in words("before-address")

    def _is_proper(self, part: str) -> bool:
        """Return whether a word of a name is a name itself: "Mary" in "Mrs Mary Smith", but not "Mrs".

        Titles, discourse markers, interjections ("Hi") and single letters are not names.
        """
        is_title = part in values("titles") or "title" in self._view.lexicon.classes_of(part)
        # Single letters, as in "L/C" and "J. Smith", are not names. Greetings are not names either, although
        # some parsers treat "Good Morning" as a name.
        is_word = part in words("markers") or part in words("no-mention")
        return not is_title and not is_word and len(part) > 1 and part[0].isalnum()

    def _namesake(self, k: int) -> int | None:
        """Return the index of the pronoun for a named person: *I* in "I'm Mary" and "My name is Mary"."""
        view = self._view
        for child in view.children[k]:
            # Return None for "Are you Jane?" and "I'm not Jane", which do not tell the name of the person.
            if child.role == "polarity":
                return None
            if child.role != "domain":
                continue
            if child.label in _SPEAKING:
                return child.position
            if child.label == "name":
                return next((c.position for c in view.children[child.position] if c.role == "poss"), None)
        return None

    def _noun(self, k: int, place: tuple[int, int]) -> Mention | None:
        view, role, label = self._view, self._view.roles[k], self._view.labels[k]
        head, owner, at = lexeme(label), None, k
        for written, of in view.roles_out[k]:
            if written == "poss":
                owner = of
        # "my sister" is (person :ARG0-of (have-rel-role-91 :ARG1 i :ARG2 sister)). Take "sister" as the head,
        # and the ARG1 as the owner.
        for written, above in view.roles_in[k] if label == "person" else ():
            if written == "ARG0" and view.is_a(above, "relating"):
                relation = dict(view.roles_out[above])
                if "ARG2" in relation:
                    at = relation["ARG2"]
                    head, owner = lexeme(view.labels[at]), relation.get("ARG1", owner)
        # In the graph of "my sister", the node *person* is the mention of the sister. So skip the node
        # *sister*, which is the ARG2 of have-rel-role-91.
        if role == "ARG2" and view.is_a(view.nodes[k].parent, "relating"):
            return None
        if (
            label in words("no-mention")
            or head in words("no-mention")
            or not any(map(str.isalpha, head))
            or view.is_a(k, "joining", "closed", "anaphor", "pointer")
            or role in _NOT_REFERRING
        ):
            return None
        kind = "person" if label == "person" or head in words("anybody") else view.kinds[k]
        if kind in words("no-referent-kinds"):
            return None
        token = self._last_token(k, at, head)
        # Skip a noun that is a part of a compound: "the taxi-driver" does not mention a taxi.
        if token is not None and "-" in self._tokens[token] and "-" not in label:
            return None
        definiteness = self._definiteness(k, token)
        # "My eyes" shows that there is an owner. Use `NOBODY` if the graph does not say who it is.
        if owner is None and self._has_possessive(token):
            owner = NOBODY
        # "my car" is definite because it has an owner. "any car of mine" has an owner but stays indefinite.
        if owner is not None and definiteness == "bare":
            definiteness = "definite"
        # "A man needs a good job" is about any man, so a noun such as "man" counts as indefinite.
        elif head in words("anybody"):
            definiteness = "indefinite"
        # A word of unknown kind may be an adjective and not a noun if it has no determiner ("It is
        # expensive") or is a superlative ("the latest"). An adjective mentions nothing.
        is_superlative = token is not None and self._tokens[token].endswith("est")
        if kind == OTHER and (definiteness == "bare" or is_superlative):
            return None
        gender = next(
            (
                g
                for g, name in (("male", "man"), ("female", "woman"))
                if name in view.lexicon.classes_of(head)
            ),
            "",
        )
        return Mention(
            k,
            "noun",
            head,
            head,
            kind,
            gender,
            self._number(token, head),
            definiteness,
            self._modifiers(k),
            owner,
            is_argument=bool(role) and role != "mod",
            sort_key=place,
        )

    def _last_token(self, k: int, at: int, head: str) -> int | None:
        """Return the index of a noun's last token; None if it is not known."""
        tokens = self._tokens
        for node in (at, k):
            if node in self._spans:
                end = self._spans[node][1] - 1
                return end if end < len(tokens) else None
        # If the node is not aligned with a token, look for tokens with the same stem. If the text has two
        # such tokens and the graph has two nodes `car`, the second token belongs to the second node.
        stem = head.rpartition(" ")[2]
        stem = stem[:-1] if len(stem) > 3 and stem.endswith("y") else stem
        found = [i for i, token in enumerate(tokens) if token.startswith(stem) and len(token) < len(stem) + 4]
        same = [node.position for node in self._view.nodes if node.label == self._view.labels[at]]
        return found[same.index(at)] if len(found) == len(same) else None

    def _definiteness(self, k: int, token: int | None) -> Definiteness:
        """Return whether a noun is ``definite``, ``indefinite`` or ``bare`` (without a determiner)."""
        view = self._view
        for child in view.children[k]:
            if child.role == "quant" or child.label in ("any", "some", "all", "each", "every", "another"):
                return "indefinite"
            if child.role == "mod" and child.label in words("pointing"):
                return "definite"
        if token is None:
            return "bare"
        inside = {lexeme(view.labels[at]) for at in view.descendants(k)}
        for at in range(token - 1, max(token - 5, -1), -1):
            word = self._tokens[at]
            kind = values("determiners").get(word)
            if kind is not None:
                return "indefinite" if kind == "indefinite" else "definite"
            # Only modifiers of the noun can come between it and its determiner: "the old green car".
            if not any(word.startswith(part[:4]) for label in inside for part in label.split()):
                break
        return "bare"

    def _has_possessive(self, token: int | None) -> bool:
        """Return whether one of the two words before a noun is a possessive pronoun, as in "my red car"."""
        before = self._tokens[max(0, token - 2) : token] if token is not None else []
        return any(values("determiners").get(word) == "possessive" for word in before)

    def _number(self, token: int | None, head: str) -> str:
        if token is None:
            return ""
        word, last = self._tokens[token], head.rpartition(" ")[2]
        if word in ("people", "children", "men", "women"):
            return "plural"
        # A word that is equal to its lemma is singular, even if it ends in "s": "glass". "cars" differs from
        # its lemma "car", so it is plural.
        return "singular" if word == last else "plural" if word != last and word.endswith("s") else ""

    def _modifiers(self, k: int) -> frozenset[str]:
        """Return the modifiers of a noun, such as ``mod red``, without determiners and possessors."""
        view = self._view
        return frozenset(
            f"{child.role} {lexeme(child.label)}"
            for child in view.children[k]
            if child.role not in _NO_MODIFIERS
            and child.label not in words("pointing") | words("markers")
            and not view.is_a(child.position, "relating")
        )
