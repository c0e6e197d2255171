"""A ranker that reads context and response together: any encoder with a classifier on top."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from graphneg.errors import InputError, ModelError
from graphneg.nn.models import check_packages, choose_device, first_line, locate
from graphneg.rankers.base import CROSS_ENCODER, by_score, kind_of, of_kind, read_config

if TYPE_CHECKING:
    from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerBase


# A ranker that reads context and response together: any encoder with a classifier on top.


_KIND = "ForSequenceClassification"
_TOKENS = "max_tokens"
_FIRST = "first"

First = Literal["response", "context"]
"""Which of the two texts the model reads first."""


class CrossEncoder:
    """A sequence classifier over a pair of texts, response and context.

    Its folder is read by ``transformers`` and by sentence-transformers' ``CrossEncoder`` alike. What is
    trained here reads the response ``first``, which is learned sooner: it always stands in the same
    place. A model that was trained elsewhere, and says nothing of it, gets the context first. Turns
    are joined by blanks, as running text: separators between them cost encoders of sentences much of what
    they know. What is longer than ``max_tokens`` is cut from the context's beginning: its last turns
    say most about a response. A response that leaves no room at all for a context loses its end.
    """

    kind: ClassVar[str] = CROSS_ENCODER

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        max_tokens: int = 256,
        batch: int = 64,
        first: First = "response",
    ) -> None:
        self.model = model
        self.first = first
        self.tokenizer = tokenizer
        self.batch = batch
        self.max_tokens = min(max_tokens, positions(model), tokenizer.model_max_length)
        self.tokenizer.truncation_side = "left"

    @classmethod
    def from_pretrained(
        cls,
        model: str | Path,
        *,
        max_tokens: int | None = None,
        batch: int = 64,
        device: str | None = None,
        offline: bool = False,
    ) -> Self:
        """A trained ranker by path or hub id; it reads as many tokens as in training where none are given.

        Raises:
            ModelError: torch or transformers is missing, there is no such model, it is no classifier
                of one or two classes, or a ranker of another kind.
        """
        check_packages()
        folder = locate(model, offline=offline)
        _check_kind(folder, cls.kind)
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        try:
            network: Any = AutoModelForSequenceClassification.from_pretrained(folder, local_files_only=True)
            tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        except Exception as error:  # its loaders raise what the files' parsers and torch raise
            raise ModelError(f"{folder}: no ranker can be read from it ({first_line(error)})") from error
        if network.config.num_labels not in (1, 2):
            raise ModelError(
                f"{folder}: a classifier of {network.config.num_labels} classes; a ranker has one or two"
            )
        network.to(choose_device(device or "auto"))
        noted: Any = getattr(network.config, "graphneg", None) or {}
        return cls(
            network,
            tokenizer,
            max_tokens=max_tokens or noted.get(_TOKENS, 256),
            batch=batch,
            first=noted.get(_FIRST, "context"),
        )

    def encode(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> BatchEncoding:
        """Tokens of the pairs, shape (pairs, tokens), padded to the longest, at most ``max_tokens``."""
        texts = [" ".join(turns) for turns in contexts]
        answers = [self._shortened(response) for response in responses]
        pairs = (answers, texts) if self.first == "response" else (texts, answers)
        return self.tokenizer(
            *pairs,
            truncation="only_second" if self.first == "response" else "only_first",
            max_length=self.max_tokens,
            padding=True,
            return_tensors="pt",
        )

    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        if len(contexts) != len(responses):
            raise ValueError(f"{len(contexts)} contexts for {len(responses)} responses")
        lengths = [sum(map(len, c)) + len(r) for c, r in zip(contexts, responses, strict=True)]
        order = sorted(range(len(lengths)), key=lambda place: lengths[place])
        scores = [0.0] * len(order)
        for some in _cut(order, self.batch):
            found = self._scores([contexts[i] for i in some], [responses[i] for i in some])
            for place, one in zip(some, found, strict=True):
                scores[place] = one
        return scores

    def rank(self, context: Sequence[str], candidates: Sequence[str]) -> list[int]:
        return by_score(self.score([context] * len(candidates), candidates))

    def save(self, folder: str | Path) -> None:
        """Write model and tokenizer into a folder that ``from_pretrained`` reads."""
        self.model.config.graphneg = {
            **of_kind(self.kind),
            _TOKENS: self.max_tokens,
            _FIRST: self.first,
        }
        self.model.save_pretrained(str(folder))
        self.tokenizer.save_pretrained(str(folder))

    def _shortened(self, response: str) -> str:
        """The response, or its beginning where it leaves no room for a context's token."""
        room = self.max_tokens - self.tokenizer.num_special_tokens_to_add(pair=True) - 1
        if len(response.encode("utf-8", "surrogatepass")) <= room:
            return response
        found: Any = self.tokenizer(response, add_special_tokens=False, return_offsets_mapping=True)
        ends = [end for _, end in found["offset_mapping"]]
        return response if len(ends) <= room else response[: ends[room - 1]]

    def _scores(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        import torch

        self.model.eval()
        with torch.inference_mode():
            logits = self.model(**self.encode(contexts, responses).to(self.model.device)).logits.float()
        fits = logits.sigmoid()[:, 0] if logits.shape[1] == 1 else logits.softmax(dim=1)[:, 1]
        return fits.tolist()


def new_cross_encoder(
    model: str | Path,
    *,
    seed: int = 0,
    max_tokens: int = 256,
    frozen: Collection[str] = (),
    dropout: float | None = None,
    device: str | None = None,
    offline: bool = False,
) -> CrossEncoder:
    """An encoder by path or hub id with a new head of one class, drawn by ``seed``.

    ``frozen`` are beginnings of parameters' names that do not learn, ``embeddings`` say: on a CPU that and
    ``dropout`` 0 train three times as fast.

    Raises:
        ModelError: there is no such encoder.
        InputError: no parameter's name begins with one of ``frozen``.
    """
    network, tokenizer = read_encoder(model, seed=seed, dropout=dropout, offline=offline)
    freeze(network, frozen)
    network.to(choose_device(device or "auto"))
    return CrossEncoder(network, tokenizer, max_tokens=max_tokens)


def read_encoder(
    model: str | Path, *, seed: int, dropout: float | None = None, offline: bool = False
) -> tuple[Any, Any]:
    """An encoder with a new head of one class, drawn by ``seed``, and its tokenizer.

    Raises:
        ModelError: there is no such encoder.
    """
    check_packages()
    folder = locate(model, offline=offline)
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer, set_seed
    from transformers.utils.logging import disable_progress_bar, set_verbosity_error

    disable_progress_bar()
    set_verbosity_error()  # or it warns that the head is new
    set_seed(seed)
    try:
        config: Any = AutoConfig.from_pretrained(folder, local_files_only=True, num_labels=1)
        if dropout is not None:
            config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout
        network: Any = AutoModelForSequenceClassification.from_pretrained(
            folder, config=config, local_files_only=True, dtype="float32"
        )
        tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except Exception as error:  # its loaders raise what the files' parsers and torch raise
        raise ModelError(f"{folder}: no encoder can be read from it ({first_line(error)})") from error
    return network, tokenizer


def freeze(network: Any, starts: Collection[str]) -> None:
    """Parameters whose names begin with one of ``starts``, or have a part that does, do not learn.

    Raises:
        InputError: there are none.
    """
    for start in starts:
        named = [
            one for name, one in network.named_parameters() if name.startswith(start) or f".{start}" in name
        ]
        if not named:
            raise InputError(f"no parameter's name begins with {start!r}")
        for one in named:
            one.requires_grad_(False)


def _check_kind(folder: Path, kind: str) -> None:
    config = read_config(folder)
    tasks = [str(one) for one in config.get("architectures") or ()]
    if not any(task.endswith(_KIND) for task in tasks):
        raise ModelError(
            f"{folder}: {', '.join(tasks) or 'a model'} gives no scores; a ranker is a trained model {_KIND}"
        )
    if (found := kind_of(config)) != kind:
        raise ModelError(f"{folder}: a ranker of the kind {found}, not {kind}; load_ranker reads either")


def positions(model: PreTrainedModel) -> int:
    """The most tokens that the model can read."""
    most = getattr(model.config, "max_position_embeddings", None)
    return most - _first_position(model) if isinstance(most, int) and most > 0 else 1 << 20


def _first_position(model: PreTrainedModel) -> int:
    """Where a text's positions begin: behind the padding's one in RoBERTa and MPNet."""
    for name, module in model.named_modules():
        if name.rpartition(".")[2] == "position_embeddings":
            padding = getattr(module, "padding_idx", None)
            return padding + 1 if isinstance(padding, int) else 0
    return 0


def _cut(order: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    return (order[start : start + size] for start in range(0, len(order), size))


# The files that make a folder with an encoder one of sentence-transformers.


_POOLING = "1_Pooling"
_MODULES = "sentence_transformers.models"


def note_pooling(folder: Path, pooling: str, size: int, tokens: int) -> None:
    """Say how the encoder in ``folder`` pools its states: ``first`` or ``mean``, vectors of ``size``.

    Texts are read to ``tokens`` tokens. The names are those that all versions of sentence-transformers know.
    """
    files: dict[str, Any] = {
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": f"{_MODULES}.Transformer"},
            {"idx": 1, "name": "1", "path": _POOLING, "type": f"{_MODULES}.Pooling"},
        ],
        "sentence_bert_config.json": {"max_seq_length": tokens, "do_lower_case": False},
        "config_sentence_transformers.json": {"similarity_fn_name": "dot"},
        f"{_POOLING}/config.json": {
            "word_embedding_dimension": size,
            "pooling_mode_cls_token": pooling == "first",
            "pooling_mode_mean_tokens": pooling == "mean",
        },
    }
    (folder / _POOLING).mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
