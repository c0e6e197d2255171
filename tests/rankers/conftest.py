"""Fixtures of the ranker tests: a tiny encoder, and an untrained poly-encoder made of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.tiny_ranker import encoder_folder

if TYPE_CHECKING:
    from graphneg.rankers.poly_encoder import PolyEncoder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # more threads are slower for such small tensors
    yield encoder_folder(tmp_path_factory.mktemp("encoder"))
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def poly(encoder: Path) -> PolyEncoder:
    from graphneg.rankers.poly_encoder import PolyEncoder

    return PolyEncoder.new(encoder, codes=3, device="cpu")
