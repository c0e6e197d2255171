"""Write a small file in the format of each loader, and load it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.model import Record

DATA = Path(__file__).parent / "loaders_data"

SAMPLES = {
    "dialogues": ["chats.jsonl", "chats.csv", "chats.tsv", "messages.json", "sharegpt.jsonl", "rows.csv"],
    "dailydialog": ["dailydialog/dialogues_train.txt"],
    "dailydialog_pp": ["dailydialog_pp_dev.json"],
    "personachat": ["personachat_pairs_valid.json", "personachat_histories.json", "personachat_test.txt"],
    "topical_chat": ["topical_chat_rare.json"],
    "penman": ["graphs.amr"],
    "conceptnet": ["assertions.csv"],
    "propbank": ["frames/carry.xml"],
}
CASES = [(loader, name) for loader, names in SAMPLES.items() for name in names]


def load(loader: str, *paths: Path) -> list[Record]:
    return list(_loader(loader).read(paths, LoadOptions()))


_loader = cache(get_loader)


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
