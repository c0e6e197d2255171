"""Rank responses with a poly-encoder, which encodes contexts and responses separately.

Responses can therefore be encoded once and stored (see `graphneg.rankers.response_bank`). To score a stored
response for a new context, only a few dot products are computed. A response is encoded as one vector, and a
context as several vectors, one for each code. Codes are learned vectors that attend over the tokens of the
context.

Example:
    With 16 codes and a hidden size of 384, the result of ``context_vectors([["Hi!"]])`` has the shape
    (1, 16, 384), and the result of ``response_vectors(["Hello."])`` has the shape (1, 384).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from graphneg.errors import InputError, ModelError
from graphneg.nn.batching import longest_first
from graphneg.nn.encoders import freeze, load_encoder, positions, tokenizer_of
from graphneg.nn.models import check_packages, locate, on_device, reading
from graphneg.nn.training import weighted_cross_entropy
from graphneg.rankers.base import POLY_ENCODER, EncoderRanker, kind_of

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray
    from torch import Tensor
    from transformers import PreTrainedTokenizerBase

    from graphneg.rankers.poly_attention import PolyNetwork, Pooling

EncoderSharing = Literal["shared", "separate"]
"""Type of ``towers``: whether contexts and responses have the same encoder (shared) or separate encoders."""
Objective = Literal["pairs", "in-batch"]
"""Type of the training objective.

``pairs`` classifies each pair as correct or wrong. ``in-batch`` also uses the responses of the other pairs in
the batch as negatives.
"""
HEAD = "poly_encoder.safetensors"
"""Name of the file with the parameters outside of the encoders: codes, and scale and bias of the logits."""
RESPONSES = "response"
"""Name of the subfolder with the encoder of responses. It exists only if the encoders are separate."""
_POOLING = "1_Pooling"
_MODULES = "sentence_transformers.models"


class PolyEncoder(EncoderRanker):
    """A poly-encoder (Humeau et al. 2020, "Poly-encoders", section 4); without codes, a bi-encoder.

    Codes are learned vectors. Each code gives one vector of a context. The turns of a context are joined by
    spaces. A context that is longer than ``max_tokens`` is truncated at
    its beginning. A response that is longer than ``response_tokens`` is truncated at its end.

    A saved poly-encoder can also be loaded by ``AutoModel`` of transformers and by ``SentenceTransformer`` of
    sentence-transformers, which encode responses as the same vectors. If the encoders are separate, the
    folder itself contains the encoder for contexts, and its subfolder ``response`` contains the encoder for
    responses.

    Attributes:
        model: The network, with its encoders and codes.
        tokenizer: The tokenizer of the encoders.
        max_tokens: Maximum length of a context in tokens.
        response_tokens: Maximum length of a response in tokens.
        batch: Number of texts per forward pass.
        objective: The training objective. ``pairs`` classifies each pair as correct or wrong. ``in-batch``
            also uses the responses of the other pairs in the batch as negatives.
    """

    kind: ClassVar[str] = POLY_ENCODER

    def __init__(
        self,
        model: PolyNetwork,
        tokenizer: PreTrainedTokenizerBase,
        *,
        max_tokens: int = 256,
        response_tokens: int = 72,
        batch: int = 64,
        objective: Objective = "in-batch",
    ) -> None:
        """Initialize a ranker with a network.

        Args:
            model: The network, with its encoders and codes.
            tokenizer: The tokenizer of the encoders.
            max_tokens: Maximum length of a context in tokens. If the model can read fewer tokens, its limit
                is used.
            response_tokens: Maximum length of a response in tokens. If the model can read fewer tokens, its
                limit is used.
            batch: Number of texts per forward pass.
            objective: The training objective, ``pairs`` or ``in-batch``.
        """
        most = min(positions(model.encoder), tokenizer.model_max_length)
        self.model = model
        self.tokenizer = tokenizer
        self.batch = batch
        self.max_tokens = min(max_tokens, most)
        self.response_tokens = min(response_tokens, most)
        self.objective: Objective = objective
        model.config.graphneg = {
            "kind": self.kind,
            "codes": len(model.codes),
            "pooling": model.pooling,
            "towers": "shared" if model.response_encoder is None else "separate",
            "objective": objective,
            "max_tokens": self.max_tokens,
            "response_tokens": self.response_tokens,
        }

    @classmethod
    def new(
        cls,
        model: str | Path,
        *,
        codes: int = 16,
        seed: int = 0,
        max_tokens: int = 256,
        response_tokens: int = 72,
        pooling: Pooling = "mean",
        towers: EncoderSharing = "shared",
        objective: Objective = "in-batch",
        frozen: Collection[str] = (),
        dropout: float | None = None,
        device: str | None = None,
        offline: bool = False,
    ) -> Self:
        """Create an untrained ranker from a pretrained encoder and random codes.

        Raises `ModelError` if the encoder is missing, and `InputError` if a prefix in ``frozen`` matches no
        parameter.

        Args:
            model: Path or Hugging Face hub id of the encoder.
            codes: Number of codes, that is, of vectors per context; 0 for a bi-encoder.
            seed: Seed for the random initial values of the codes.
            max_tokens: Maximum length of a context in tokens.
            response_tokens: Maximum length of a response in tokens.
            pooling: How to compute the vector of a response: ``first`` (the state of its first token, as in
                the paper) or ``mean`` (the mean of the states of all tokens).
            towers: ``shared`` (one encoder for contexts and responses) or ``separate`` (two encoders, which
                start with the same parameters).
            objective: The training objective, ``pairs`` or ``in-batch``.
            frozen: Prefixes of the names of parameters to exclude from training.
            dropout: Dropout rate; None for the rate in the encoder's configuration.
            device: The torch device; None to choose one automatically.
            offline: Whether to use only local files, without downloading the encoder.

        Returns:
            The untrained ranker.

        Raises:
            InputError: The number of codes is negative, or ``pooling``, ``towers`` or ``objective`` has an
                unknown value.
            ModelError: The model has a decoder, which a poly-encoder cannot use.
        """
        if codes < 0:
            raise InputError(f"codes must be at least 1, or 0 for a bi-encoder, not {codes}")
        for name, value, known in (
            ("pooling", pooling, ("first", "mean")),
            ("towers", towers, ("shared", "separate")),
            ("objective", objective, ("pairs", "in-batch")),
        ):
            if value not in known:
                raise InputError(f"unknown {name} {value!r}; choose one of {', '.join(known)}")
        check_packages()
        folder = locate(model, offline=offline)
        from transformers import set_seed

        from graphneg.rankers.poly_attention import PolyNetwork

        set_seed(seed)
        with reading(folder, "encoder"):
            encoders = [load_encoder(folder, dropout) for _ in range(1 + (towers == "separate"))]
            tokenizer = tokenizer_of(folder)
        if encoders[0].config.is_encoder_decoder:
            raise ModelError(
                f"{folder}: the model has a decoder; a poly-encoder needs an encoder without one"
            )
        # Loading the encoders may draw random numbers. The seed is set again, so that the random codes depend
        # only on the seed.
        set_seed(seed)
        network = PolyNetwork(encoders, codes, pooling)
        freeze(network, frozen)
        on_device(network, device)
        return cls(
            network, tokenizer, max_tokens=max_tokens, response_tokens=response_tokens, objective=objective
        )

    @classmethod
    def _read(cls, folder: Path, config: Mapping[str, Any], max_tokens: int | None, batch: int) -> Self:
        """Load the ranker in a folder, with its parameters on the CPU.

        Args:
            folder: The folder that contains the ranker.
            config: The parsed content of ``config.json`` in this folder.
            max_tokens: Maximum length of a context in tokens; None for the value that was used in training.
            batch: Number of texts per forward pass.

        Returns:
            The ranker.

        Raises:
            ModelError: The model is not a poly-encoder.
        """
        if kind_of(config) != POLY_ENCODER:
            raise ModelError(
                f"{folder}: not a poly-encoder; graphneg train ranker --kind {POLY_ENCODER} trains one"
            )
        from safetensors.torch import load_file

        from graphneg.rankers.poly_attention import PolyNetwork

        noted: Mapping[str, Any] = config["graphneg"]
        with reading(folder, "poly-encoder"):
            towers = (folder, folder / RESPONSES) if noted["towers"] == "separate" else (folder,)
            network = PolyNetwork(list(map(load_encoder, towers)), int(noted["codes"]), noted["pooling"])
            values = load_file(str(folder / HEAD))
            for name, parameter in _head(network).items():
                parameter.data.copy_(values[name])
            return cls(
                network,
                tokenizer_of(folder),
                max_tokens=max_tokens or int(noted["max_tokens"]),
                response_tokens=int(noted["response_tokens"]),
                batch=batch,
                objective=noted["objective"],
            )

    @property
    def loss(self) -> Callable[..., Tensor]:
        """The loss function for the training objective.

        The function has three arguments. The first is the output of the network. The second is a tensor of
        shape (pairs, 3), whose first two columns are the label and the weight of each pair. The third is the
        number of labels in the optimizer step.
        """
        from graphneg.rankers.poly_attention import in_batch_loss

        return in_batch_loss if self.objective == "in-batch" else weighted_cross_entropy

    def encode(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> Mapping[str, Tensor]:
        """Tokenize contexts and responses.

        Args:
            contexts: The contexts, each a list of turns, oldest first.
            responses: One response per context.

        Returns:
            Tensors of shape (pairs, tokens), keyed by the names of the parameters of `PolyNetwork.forward`.
            Contexts are padded to the length of the longest context, and responses to the length of the
            longest response.
        """
        return {**self._tokens_of_contexts(contexts), **self._tokens_of_responses(responses)}

    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        """Score pairs of a context and a response; see `Ranker.score`.

        Args:
            contexts: The contexts, each a list of turns, oldest first.
            responses: One response per context.

        Returns:
            One score per pair, from 0 (does not fit) to 1 (fits).

        Raises:
            ValueError: The number of contexts differs from the number of responses.
        """
        if len(contexts) != len(responses):
            raise ValueError(
                f"expected one context for each of {len(responses)} responses but found {len(contexts)} "
                "contexts"
            )
        import torch

        scores: list[float] = []
        # Texts are processed in chunks of 16 batches. Within a chunk, they are sorted by length into batches,
        # and a text that occurs several times is encoded only once.
        size, device = self.batch * 16, self.model.device
        for start in range(0, len(responses), size):
            some, answers = contexts[start : start + size], responses[start : start + size]
            # Encode each distinct context and response only once. `turns` and `texts` contain their row
            # numbers in `left` (context vectors) and `right` (response vectors).
            turns = {key: index for index, key in enumerate(dict.fromkeys(map(tuple, some)))}
            texts = {key: index for index, key in enumerate(dict.fromkeys(answers))}
            left = torch.from_numpy(self.context_vectors(list(turns)))
            right = torch.from_numpy(self.response_vectors(list(texts)))
            left = left[[turns[tuple(context)] for context in some]].to(device)
            right = right[[texts[response] for response in answers]].to(device)
            with torch.inference_mode():
                scores += self.model.pair_logits(left, right).sigmoid().tolist()
        return scores

    def context_vectors(self, contexts: Sequence[Sequence[str]]) -> NDArray[float32]:
        """Encode contexts.

        Args:
            contexts: The contexts, each a list of turns, oldest first.

        Returns:
            Vectors of shape (contexts, vectors, size). A context has one vector per code; without codes, it
            has a single vector.
        """
        return self._vectors(contexts, self._tokens_of_contexts, self.model.context_vectors)

    def response_vectors(self, responses: Sequence[str]) -> NDArray[float32]:
        """Encode responses.

        Args:
            responses: The texts of the responses.

        Returns:
            Vectors of shape (responses, size).
        """
        return self._vectors(responses, self._tokens_of_responses, self.model.response_vectors)

    def score_vectors(self, context: NDArray[float32], responses: NDArray[float32]) -> list[float]:
        """Score responses for a context, given the vectors of the context and of the responses.

        Args:
            context: Vectors of the context, of shape (vectors, size).
            responses: Vectors of the responses, of shape (responses, size).

        Returns:
            One score per response, from 0 (does not fit) to 1 (fits).
        """
        import torch

        with torch.inference_mode():
            sides = (torch.from_numpy(side).to(self.model.device) for side in (context[None], responses))
            return self.model.crossed_logits(*sides)[0].sigmoid().tolist()

    def digest(self) -> str:
        """Return a digest of the parameters and settings that determine the vectors of responses.

        The digest covers the parameters of the encoder for responses, the pooling and ``response_tokens``.
        """
        tower = self.model.response_encoder or self.model.encoder
        digest = hashlib.blake2b(f"{self.model.pooling} {self.response_tokens}".encode(), digest_size=8)
        for name, tensor in sorted(tower.state_dict().items()):
            digest.update(name.encode())
            digest.update(tensor.detach().cpu().float().contiguous().numpy().data)
        return digest.hexdigest()

    def save(self, folder: str | Path) -> None:
        """Save the network and the tokenizer, so that `from_pretrained` can load them.

        Args:
            folder: The output folder.
        """
        from safetensors.torch import save_file

        out = Path(folder)
        shared = self.model.response_encoder is None
        self._save_encoder(self.model.encoder, out, self.response_tokens if shared else self.max_tokens)
        if not shared:
            self._save_encoder(self.model.response_encoder, out / RESPONSES, self.response_tokens)
        head = {name: value.detach().cpu().contiguous() for name, value in _head(self.model).items()}
        save_file(head, str(out / HEAD), metadata={"format": "pt"})

    def _save_encoder(self, encoder: Any, folder: Path, tokens: int) -> None:
        """Save an encoder, with its pooling settings in the format of sentence-transformers."""
        self.tokenizer.truncation_side = "right"
        encoder.save_pretrained(str(folder))
        self.tokenizer.save_pretrained(str(folder))
        # Write the class names of old versions of sentence-transformers, because new versions also accept
        # them.
        files: dict[str, Any] = {
            "modules.json": [
                {"idx": 0, "name": "0", "path": "", "type": f"{_MODULES}.Transformer"},
                {"idx": 1, "name": "1", "path": _POOLING, "type": f"{_MODULES}.Pooling"},
            ],
            "sentence_bert_config.json": {"max_seq_length": tokens, "do_lower_case": False},
            "config_sentence_transformers.json": {"similarity_fn_name": "dot"},
            f"{_POOLING}/config.json": {
                "word_embedding_dimension": self.model.size,
                "pooling_mode_cls_token": self.model.pooling == "first",
                "pooling_mode_mean_tokens": self.model.pooling == "mean",
            },
        }
        (folder / _POOLING).mkdir(exist_ok=True)
        for name, content in files.items():
            (folder / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")

    def _tokens_of_contexts(self, contexts: Sequence[Sequence[str]]) -> dict[str, Tensor]:
        texts = [" ".join(turns) for turns in contexts]
        return self._tokens("context", texts, self.max_tokens, "left")

    def _tokens_of_responses(self, responses: Sequence[str]) -> dict[str, Tensor]:
        return self._tokens("response", responses, self.response_tokens, "right")

    def _tokens(self, side: str, texts: Sequence[str], most: int, cut: str) -> dict[str, Tensor]:
        """Tokenize contexts or responses. Long texts are truncated on the side ``cut`` (left or right)."""
        self.tokenizer.truncation_side = cut
        result: Any = self.tokenizer(
            list(texts), truncation=True, max_length=most, padding=True, return_tensors="pt"
        )
        return {f"{side}_ids": result["input_ids"], f"{side}_mask": result["attention_mask"]}

    def _vectors(
        self,
        items: Sequence[Any],
        tokens: Callable[[Sequence[Any]], dict[str, Tensor]],
        read: Callable[..., Tensor],
    ) -> NDArray[float32]:
        """Encode contexts or responses in batches of similar length."""
        import torch

        def run(batch: Sequence[Any]) -> Sequence[Tensor]:
            rows = [tensor.to(self.model.device) for tensor in tokens(batch).values()]
            with torch.inference_mode():
                return list(read(*rows).float().cpu())

        self.model.eval()
        vectors = longest_first(items, lambda item: sum(map(len, item)), self.batch, run)
        return torch.stack(vectors).numpy()


def _head(network: Any) -> dict[str, Tensor]:
    """Return the parameters of a network that do not belong to its encoders, keyed by name."""
    return {"codes": network.codes, "log_scale": network.log_scale, "bias": network.bias}
