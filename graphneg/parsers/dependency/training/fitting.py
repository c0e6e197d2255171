"""Fits all learned parts, each on what the one before does with sentences that it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf

from graphneg.parsers.dependency.draft import Draft
from graphneg.parsers.dependency.learned.choosing import choose_concepts
from graphneg.parsers.dependency.learned.meanings import Meanings
from graphneg.parsers.dependency.learned.network import Model
from graphneg.parsers.dependency.learned.reviser import Parts, make_parts
from graphneg.parsers.dependency.lexicon import Lexicon
from graphneg.parsers.dependency.training.choosing import (
    Choice,
    build_meanings,
    choices,
    sentence_counts,
    train_chooser,
)
from graphneg.parsers.dependency.training.corpus import GOLD, SILVER, Item, crossed_drafts, rule_lexicon
from graphneg.parsers.dependency.training.denial import train_denial
from graphneg.parsers.dependency.training.pairs import PairSentence, pair_sentence
from graphneg.parsers.dependency.training.propbank import Roleset
from graphneg.parsers.dependency.training.scoring import train_arcs

WEIGHTS = (1.0, 0.5)
CHOOSER_SIZE, CHOOSER_EPOCHS = 48, 5
ARC_SIZE, ARC_EPOCHS, ARC_SEEDS = 96, 10, (0, 1)


def fit(
    items: Sequence[Item],
    rolesets: Sequence[Roleset],
    clusters: Mapping[str, tuple[int, int]],
    folds: int,
    say: Callable[[str], None],
    lessons: Callable[[Lexicon, Meanings, Model], Iterable[PairSentence]],
) -> Parts:
    """All parts from items of several folds.

    ``lessons`` makes further sentences for the arc scorer, of the rules' tables, meanings and chooser.
    """
    drafts = crossed_drafts(items, folds)
    say(f"{len(drafts)} drafts")
    corpora = [[(item.gold, item.words) for item in items if item.corpus == one] for one in (GOLD, SILVER)]
    meanings = build_meanings(corpora, rolesets, clusters)
    data = [
        choices(meanings, draft, item.gold, item.corpus, WEIGHTS[item.corpus], item.fold)
        for item, draft in zip(items, drafts, strict=True)
    ]
    _cross_choose(meanings, items, drafts, data, folds)
    say("concepts chosen")
    sentences = [
        pair_sentence(draft, item.gold, meanings, WEIGHTS[item.corpus])
        for item, draft in zip(items, drafts, strict=True)
    ]
    chooser = train_chooser([one for found in data for one in found], CHOOSER_SIZE, CHOOSER_EPOCHS, folds)
    say("chooser fitted")
    more = list(lessons(rule_lexicon(items), meanings, chooser))
    say(f"{len(more)} lessons from examples")
    arcs = train_arcs([*sentences, *more], ARC_SIZE, ARC_EPOCHS, ARC_SEEDS)
    say("arcs fitted")
    return make_parts(meanings, chooser, arcs, train_denial(drafts, [item.gold for item in items]))


def _cross_choose(
    meanings: Meanings,
    items: Sequence[Item],
    drafts: Sequence[Draft],
    data: Sequence[list[Choice]],
    folds: int,
) -> None:
    """Chooses the concepts of each fold's drafts by what the other folds taught."""
    for fold in range(folds):
        others = [one for item, found in zip(items, data, strict=True) if item.fold != fold for one in found]
        model = train_chooser(others, CHOOSER_SIZE, CHOOSER_EPOCHS, fold)
        for item, draft in zip(items, drafts, strict=True):
            if item.fold == fold:
                own = sentence_counts(item.gold, item.words, item.corpus)
                choose_concepts(meanings, model, draft, own, sure=inf)
