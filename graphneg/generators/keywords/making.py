"""The generators by name: their options, and the parts that these choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.errors import GeneratorError
from graphneg.generators.base import Turn
from graphneg.generators.keywords.choosing import Amount, Histories, with_neighbours
from graphneg.generators.keywords.generator import KeywordGenerator, Rules
from graphneg.generators.keywords.judging import Bounds, Judge
from graphneg.generators.keywords.prompts import (
    reply_examples,
    reply_request,
    sentence_examples,
    sentence_request,
)
from graphneg.generators.keywords.screening import Limits
from graphneg.generators.keywords.slots import Material, Replacing
from graphneg.generators.keywords.training import is_trained
from graphneg.generators.keywords.writing import Style, Writer
from graphneg.language_models.causal import CausalLM
from graphneg.language_models.loading import load_causal
from graphneg.language_models.search import Sampling
from graphneg.shift.keywords import get_extractor
from graphneg.store import Store

if TYPE_CHECKING:
    from graphneg.embedding.static import StaticVectors


PULL = 3.0
"""How strongly keywords are drawn in by a model that was not trained to reply with given words."""


@dataclass(frozen=True, slots=True)
class Options:
    """What all generators of this kind take.

    ``model`` is the path or id of a causal language model (``gguf_file``, ``device`` and ``offline``
    as `graphneg.language_models.load_causal` takes them); ``keywords`` the extractor, for a ``language``,
    with a ``spacy_model``. ``least`` and ``most`` keywords go into a text, which has at most ``words``
    words. ``temperature``, ``top_p`` and ``pull`` (how strongly keywords are drawn in; None: not at all
    for a trained model, else by `PULL`) say how texts are drawn, ``drafts``, ``draws`` and ``apart`` which of
    them are kept (`Rules`), as do ``surprise``, ``alone`` and ``worst`` (`Bounds`) of what the ``judge``
    finds, another causal language model by path or id.
    """

    model: str | Path | None = None
    gguf_file: str | None = None
    device: str = "auto"
    offline: bool = False
    keywords: str = "rake"
    language: str = "en"
    spacy_model: str | None = None
    least: int = 1
    most: int = 1
    words: int = 24
    temperature: float = 0.7
    top_p: float = 0.9
    pull: float | None = None
    drafts: int = 8
    draws: int = 4
    judge: str | Path | None = None
    surprise: float = 14.0
    alone: float = 40.0
    worst: float = 11.0
    apart: float = 0.3


def key_context(store: Store, **options: Any) -> KeywordGenerator:
    """``key-context``: a reply with keywords of the context, for the history of another dialogue."""
    return _replies("key-context", store, _checked("key-context", options), None)


def key_sem(store: Store, *, vectors: str | Path | None = None, **options: Any) -> KeywordGenerator:
    """``key-sem``: as ``key-context``, each keyword replaced with probability 0.5 by a near word.

    ``vectors`` is a file or folder of static word vectors, GloVe's in the paper.
    """
    chosen = _checked("key-sem", options)
    if vectors is None:
        raise GeneratorError("key-sem needs word vectors: option vectors=PATH, a GloVe file for example")
    from graphneg.embedding.static import StaticVectors

    return _replies("key-sem", store, chosen, StaticVectors(vectors))


def key_sentence(store: Store, **options: Any) -> KeywordGenerator:
    """``key-sentence``: an everyday sentence with one or two keywords of the context, no reply at all."""
    chosen = _checked("key-sentence", options)
    judge, model = _models(chosen)
    return KeywordGenerator(
        "key-sentence",
        _material(chosen),
        Writer(model, sentence_examples(), _style(chosen, PULL)),
        _sentence,
        judge=judge,
        rules=_rules(chosen),
    )


def _replies(name: str, store: Store, chosen: Options, vectors: StaticVectors | None) -> KeywordGenerator:
    judge, model = _models(chosen)
    examples = "" if is_trained(model) else reply_examples()
    return KeywordGenerator(
        name,
        _material(chosen, Histories(store), None if vectors is None else partial(with_neighbours, vectors)),
        Writer(model, examples, _style(chosen, PULL if examples else 0.0)),
        reply_request,
        judge=judge,
        rules=_rules(chosen),
        made_of={} if vectors is None else {"vectors": vectors.name},
    )


def _sentence(history: Sequence[Turn], words: Sequence[str]) -> str:
    return sentence_request(words)


def _checked(name: str, options: Mapping[str, Any]) -> Options:
    known = [field.name for field in fields(Options)]
    strange = [option for option in options if option not in known]
    if strange:
        raise GeneratorError(
            f"generator {name} takes no option {' or '.join(map(repr, strange))}; it takes {', '.join(known)}"
        )
    if not options.get("model"):
        raise GeneratorError(f"{name} needs a language model: option model=PATH_OR_ID")
    chosen = Options(**options)
    _check_numbers(chosen)
    return chosen


def _check_numbers(chosen: Options) -> None:
    """Raises `InputError` for a number out of range before a model is read, which may take a minute."""
    _rules(chosen)
    _bounds(chosen)
    _style(chosen, PULL)
    Amount(chosen.least, chosen.most)


def _models(chosen: Options) -> tuple[Judge, CausalLM]:
    """The judge and the writer, which reads its own texts where no judge is named.

    The judge is loaded first: the writer may be a large model, to be read in vain where there is no judge.
    """
    judge = None
    if chosen.judge is not None:
        found = load_causal(chosen.judge, device=chosen.device, offline=chosen.offline)
        judge = Judge(found, _bounds(chosen))
    model = load_causal(
        chosen.model or "", gguf_file=chosen.gguf_file, device=chosen.device, offline=chosen.offline
    )
    return judge or Judge(model, _bounds(chosen)), model


def _bounds(chosen: Options) -> Bounds:
    return Bounds(chosen.surprise, chosen.alone, chosen.worst)


def _style(chosen: Options, pull: float) -> Style:
    search = Sampling(chosen.temperature, top_p=chosen.top_p)
    return Style(search, pull if chosen.pull is None else chosen.pull)


def _material(
    chosen: Options, histories: Histories | None = None, replacing: Replacing | None = None
) -> Material:
    extractor = get_extractor(chosen.keywords, chosen.language, chosen.spacy_model)
    return Material(extractor, Amount(chosen.least, chosen.most), histories, replacing, chosen.language)


def _rules(chosen: Options) -> Rules:
    return Rules(Limits(most=chosen.words), chosen.drafts, chosen.draws, chosen.apart)
