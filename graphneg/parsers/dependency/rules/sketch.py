"""What the rules share while they write one draft: words, tables, and the node of each word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from graphneg.english.words import word_set_word_sets as word_set
from graphneg.parsers.dependency.draft import Draft, Word
from graphneg.parsers.dependency.lexicon import Lexicon

# What the rules share while they write one draft: words, tables, and the node of each word.


@dataclass(slots=True)
class Sketch:
    """``core`` is the node that takes a word's arguments, ``outer`` the one its governor links to.

    They differ where something stands over the word: a modal, a conjunction, ``person`` over
    ``paint-01``. ``stand_in`` leads from a word without a node to the one that speaks for it (a
    copula to its predicate). ``done`` are words that need no further rule; ``placed`` those
    whose node has its role. ``persons`` are the nodes
    of persons named by what they do. ``forms`` are relations that a rule has put right, ``amounts`` the nodes
    of amounts (*a lot of*) by the noun that they measure.
    """

    draft: Draft
    words: Sequence[Word]
    lexicon: Lexicon
    core: dict[int, int] = field(default_factory=dict[int, int])
    outer: dict[int, int] = field(default_factory=dict[int, int])
    stand_in: dict[int, int] = field(default_factory=dict[int, int])
    done: set[int] = field(default_factory=set[int])
    persons: dict[int, int] = field(default_factory=dict[int, int])
    forms: dict[int, str] = field(default_factory=dict[int, str])
    placed: set[int] = field(default_factory=set[int])
    amounts: dict[int, int] = field(default_factory=dict[int, int])

    def add(self, concept: str, word: int, rule: str, last: int | None = None) -> int:
        """Makes a concept the node of a word."""
        node = self.draft.concept(concept, word, rule, last=last)
        self.core[word] = node
        self.outer[word] = node
        return node

    def above(self, concept: str, anchor: int | None, under: int, role: str, rule: str) -> int:
        """Puts a new node over all that stands for word ``under`` so far."""
        sentence = self.words[under].sentence
        node = self.draft.concept(concept, anchor, rule, sentence)
        self.draft.link(node, role, self.outer[under], rule)
        self.outer[under] = node
        return node

    def mark(self, node: int, role: str, value: str, word: int | None, rule: str) -> int:
        """Gives a node a constant, ``:polarity -``; returns the constant's number."""
        constant = self.draft.constant(value, word, rule, self.draft.nodes[node].sentence)
        self.draft.link(node, role, constant, rule)
        return constant

    def link(self, head: int, role: str, dep: int, rule: str) -> None:
        """Links two nodes."""
        self.draft.link(head, role, dep, rule)

    def head(self, word: int, form: str) -> int:
        """The node that takes a dependent of this relation: of *a good teacher of French*, *good* is
        the person's and *French* the teaching's."""
        if word in self.persons and form not in {"prep_of", "compound", "nmod"}:
            return self.persons[word]
        return self.core[word]

    def speaker(self, word: int) -> int:
        """The word that speaks for ``word``: itself, or its stand-in."""
        seen = 0
        while word in self.stand_in and seen < 20:
            word = self.stand_in[word]
            seen += 1
        return word

    def kids(self, word: int, *deps: str) -> list[Word]:
        """The dependents of a word with one of these relations, in order."""
        words = self.words
        return [words[k] for k in words[word].kids if words[k].dep in deps]

    def kid(self, word: int, *deps: str) -> Word | None:
        """The first of :meth:`kids`."""
        words = self.words
        for k in words[word].kids:
            if words[k].dep in deps:
                return words[k]
        return None

    def concept_of(self, word: int) -> str:
        """The concept that stands for a word, or the empty string."""
        node = self.core.get(word)
        return "" if node is None else self.draft.nodes[node].concept or ""


# Closed classes of English words and what AMR makes of them.


PRONOUNS = {
    "i": "i", "me": "i", "my": "i", "mine": "i", "myself": "i", "you": "you", "your": "you",
    "yours": "you", "yourself": "you", "yourselves": "you", "ya": "you", "u": "you", "he": "he",
    "him": "he", "his": "he", "himself": "he", "she": "she", "her": "she", "hers": "she",
    "herself": "she", "it": "it", "its": "it", "itself": "it", "we": "we", "us": "we", "our": "we",
    "ours": "we", "ourselves": "we", "'s": "we", "they": "they", "them": "they", "their": "they",
    "theirs": "they", "themselves": "they", "'em": "they", "one": "one", "oneself": "one",
}  # fmt: skip
REFLEXIVES = word_set("""
    myself yourself yourselves himself herself itself ourselves themselves oneself
""")
INDEFINITE = {
    "nobody": ("nobody", False), "nothing": ("nothing", False), "noone": ("nobody", False),
    "somebody": ("somebody", False), "someone": ("someone", False), "something": ("something", False),
    "anybody": ("anybody", False), "anyone": ("anyone", False), "anything": ("anything", False),
    "everybody": ("everybody", False), "everyone": ("everyone", False),
    "everything": ("everything", False),
}  # fmt: skip
MODALS = {
    "can": ("possible-01", "ARG1"), "could": ("possible-01", "ARG1"), "may": ("possible-01", "ARG1"),
    "might": ("possible-01", "ARG1"), "must": ("obligate-01", "ARG2"), "should": ("recommend-01", "ARG1"),
    "ought": ("recommend-01", "ARG1"),
}  # fmt: skip
INNER_NEGATION = frozenset({"must", "may", "might", "should", "ought"})
"""Modals whose *not* belongs to the verb: *must not* obliges one not to, *should not* advises one not to."""

SILENT_TAGS = frozenset(
    {"TO", "POS", "EX", "SYM", ",", ".", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP", "_SP"}
)
ARTICLES = frozenset({"the", "a", "an"})
PREPOSITION_CONCEPTS = word_set("""
    above across after against along amid amidst among amongst around atop before behind below beneath
    beside besides between beyond inside nearby off opposite out outside over past since throughout
    toward towards under underneath until till up within down through
""")
PREPOSITION_ROLES = {
    "in": "location", "at": "location", "on": "location", "to": "destination", "from": "source",
    "of": "poss", "with": "accompanier", "for": "purpose", "by": "manner", "about": "topic",
    "as": "prep-as", "like": "manner", "into": "destination", "onto": "destination", "during": "time",
    "after": "time", "before": "time", "since": "time", "until": "time", "till": "time",
    "through": "path", "across": "path", "along": "path", "over": "location", "under": "location",
    "behind": "location", "near": "location", "beside": "location", "between": "location",
    "among": "location", "around": "location", "inside": "location", "outside": "location",
    "above": "location", "below": "location", "without": "manner", "toward": "direction",
    "towards": "direction", "against": "prep-against", "upon": "location", "within": "location",
    "beyond": "location", "off": "direction", "out": "direction", "up": "direction", "down": "direction",
    "despite": "concession", "except": "ARG2-of", "than": "compared-to", "per": "frequency",
    "via": "path", "throughout": "location",
}  # fmt: skip
TIME_NOUNS = word_set("""
    day night morning evening afternoon noon midnight week weekend month year hour minute second moment
    time today tomorrow yesterday tonight summer winter spring autumn fall season century decade sunday
    monday tuesday wednesday thursday friday saturday january february march april june july august
    september october november december sunset sunrise dawn dusk lunchtime dinner lunch breakfast
    birthday christmas easter holiday vacation
""")
UNITS = word_set("second minute hour day night week month year decade century moment")
MARK_ROLES = {
    "if": "condition", "unless": "condition", "because": "cause", "since": "cause", "as": "time",
    "while": "time", "when": "time", "whenever": "time", "before": "time", "after": "time",
    "until": "time", "till": "time", "once": "time", "although": "concession", "though": "concession",
    "where": "location", "wherever": "location", "so": "purpose", "whereas": "contrast",
    "lest": "purpose", "like": "manner", "for": "cause",
}  # fmt: skip
RELATIVES = {
    "father": "father", "mother": "mother", "dad": "dad", "daddy": "daddy", "mom": "mom", "mum": "mum",
    "mommy": "mommy", "mama": "mama", "papa": "papa", "brother": "brother", "sister": "sister",
    "son": "son", "daughter": "daughter", "wife": "wife", "husband": "husband", "uncle": "uncle",
    "aunt": "aunt", "cousin": "cousin", "nephew": "nephew", "niece": "niece",
    "grandfather": "grandfather", "grandmother": "grandmother", "grandma": "grandma",
    "grandpa": "grandpa", "parent": "parent", "boyfriend": "boyfriend", "girlfriend": "girlfriend",
    "friend": "friend", "roommate": "roommate", "neighbor": "neighbor", "neighbour": "neighbor",
    "fiance": "fiance", "classmate": "classmate", "enemy": "enemy", "grandson": "grandson",
    "granddaughter": "granddaughter", "grandparent": "grandparent", "twin": "twin", "sibling": "sibling",
    "stepmother": "stepmother", "stepfather": "stepfather", "grandchild": "grandchild", "kid": "kid",
    "spouse": "spouse", "mate": "mate", "buddy": "buddy",
}  # fmt: skip
BODY_PARTS = word_set("""
    eye hand head face arm foot leg hair nose mouth ear finger heart neck shoulder back skin tail wing
    thorn claw leaf branch lip tooth tongue knee toe chest stomach chin forehead cheek brain
""")
AGENT_NOUNS = word_set("""
    teacher driver worker player singer dancer runner writer painter baker farmer manager leader owner
    buyer seller winner loser speaker listener reader user lover killer builder designer employer
    swimmer surfer rider climber hiker hunter fighter dealer reporter director actor conductor inventor
    investor visitor editor instructor supporter explorer waiter cleaner traveler traveller trainer
    designer performer maker helper follower believer thinker beginner stranger murderer robber walker
    jumper boxer wrestler skater skier drummer sailor commander gardener hairdresser interviewer trader
    banker learner viewer
""")
ADDRESSES = word_set(
    "sir madam ma'am miss mister dear darling honey sweetheart guys folks mom dad mommy daddy mum boss doctor"
)
COLOURS = word_set("black white brown red blue green yellow orange pink purple gray grey beige tan silver")
CLOTHES = word_set("""
    shirt t-shirt tee hat cap coat jacket dress skirt suit uniform jeans pants shorts trousers shoe boot
    glove scarf sweater sunglasses glasses costume helmet vest tie bikini swimsuit robe outfit clothes
    clothing hoodie blouse sock sandal mask wig apron top overalls
""")
OWNERS = word_set("""
    man woman boy girl child kid person people dog cat lady gentleman guy baby player rider house room
    hotel animal bird friend student teacher family
""")
OFFICES = word_set("""
    boss manager president secretary director chairman ceo minister mayor king queen captain teacher
    professor principal coach assistant colleague employee member leader chief head owner dean editor
    ambassador
""")
EXPRESSIVES = word_set("""
    oh ah wow hey hi hello ouch oops alas hmm mm uh um er ugh gee gosh ha haha yay yeah aha hurrah
    hooray well huh eh ooh bravo damn heavens goodness yuck phew whew hush bye goodbye yikes man boy
""")
"""Interjections that AMR marks ``:mode expressive``."""

QUANTIFIERS = word_set("much many few several more most less least enough some lot")
DEGREE_ADVERBS = word_set("""
    very so too quite rather extremely really pretty enough more most less least almost nearly
    completely totally absolutely perfectly awfully terribly highly fairly somewhat slightly entirely
    utterly deeply as how just
""")
COPULAS = frozenset({"be"})
WH_WORDS = word_set("what who whom whose which where when why how")


# Nouns that say what they are of another: a part, a kind, an amount, something that holds it.


PARTS = word_set("""
    part middle center centre heart edge bottom half surface corner tip rest top side trunk seat
    rear front lens root stem sprig sprout shoot fold roof wheel saddle bank hem sleeve lid rim peel
    crust core
""")
KINDS = word_set("kind sort type")
AMOUNTS = word_set("sheet deal peal hint bit pair couple touch trace")
VESSELS = word_set("""
    bottle glass cup bowl box can bucket bag jar plate basket pot tank drop droplet bunch pile stack
    heap clove ring lock ridge puddle slab loaf block cloud herd flock crowd group team band row
    line pack bundle bouquet
""")
