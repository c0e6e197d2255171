"""Who responds to collected contexts, beside installed generators: files of responses, a language model."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.contradiction.followups import written
from graphneg.errors import InputError
from graphneg.generators.base import Candidate, Context
from graphneg.loading.reading import json_lines
from graphneg.model import Rejected
from graphneg.progress import NoProgress

if TYPE_CHECKING:
    from graphneg.language_models.causal import CausalLM

LONGEST = 64
"""Tokens of a language model's response, at most."""


class FileResponses:
    """Responses that some program wrote: JSON lines with ``id`` (of a context) and ``response``.

    Raises:
        InputError: the file can't be read, or a line is none of these.
    """

    def __init__(self, name: str, path: str | Path) -> None:
        self.name = name
        self._path = Path(path)
        self._by_context: dict[str, list[str]] = {}
        for item in json_lines(self._path, NoProgress()):
            if isinstance(item, Rejected):
                raise InputError(f"{item.place}: {item.reason}")
            id, text = _fields(item.value)
            if id is None or text is None:
                raise InputError(f'{item.place}: expected an object with the texts "id" and "response"')
            self._by_context.setdefault(id, []).append(text)
        if not self._by_context:
            raise InputError(f"{path}: no response in it")

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """The file's responses to each context, in its order."""
        return [
            [Candidate(text, ()) for text in self._by_context.get(one.id, ())[:per_context]]
            for one in contexts
        ]

    def settings(self) -> Mapping[str, object]:
        return {"responses": hashlib.sha256(self._path.read_bytes()).hexdigest()}


class Replies:
    """A causal language model that goes on with the dialogue, a line drawn from its likelier words."""

    def __init__(self, name: str, model: CausalLM) -> None:
        self.name = name
        self._model = model

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """``per_context`` replies of one line to each context; an empty one is left out."""
        from graphneg.language_models.search import Sampling

        prompts = [written(one.turns, one.speaker) for one in contexts for _ in range(per_context)]
        ids = [f"{one.id}~{slot}" for one in contexts for slot in range(per_context)]
        texts = self._model.generate(
            prompts,
            Sampling(temperature=0.8, top_p=0.9),
            seed=seed,
            ids=ids,
            max_new_tokens=LONGEST,
            end="\n",
        )
        return [
            [Candidate(text, ()) for text in texts[at : at + per_context] if text]
            for at in range(0, len(texts), per_context)
        ]

    def settings(self) -> Mapping[str, object]:
        return {"model": str(self._model.place), "longest": LONGEST}


def _fields(value: Any) -> tuple[str | None, str | None]:
    if not isinstance(value, dict):
        return None, None
    id, text = value.get("id"), value.get("response")
    return (id if isinstance(id, str) else None), (text if isinstance(text, str) and text.strip() else None)
