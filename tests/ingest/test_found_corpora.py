"""Tests of published corpora as users download them: parallel lists, annotators, and known shapes."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.ingest.found_files import notices_of, texts
from tests.ingest.test_dialogue_files import said
from tests.loader_samples import written

TALK = ["Hi.", "Hello.", "How are you?"]
NAMED = [("Ann", "Hi."), ("Bo", "Hello."), ("Bo", "How are you?")]


class TestSpeakersInAListBesideTheTexts:
    @pytest.mark.parametrize(("texts_key", "speakers_key"), [("dialogue", "speakers"), ("utt", "speaker")])
    def test_are_the_speakers_of_the_turns(self, tmp_path: Path, texts_key: str, speakers_key: str) -> None:
        row = {"id": "7", texts_key: TALK, speakers_key: ["Ann", "Bo", "Bo"], "tags": ["a", "b", "c"]}
        assert said(written(tmp_path / "t.jsonl", json.dumps(row))) == {"7": NAMED}
        pq.write_table(pa.Table.from_pylist([row]), tmp_path / "t.parquet")
        assert said(tmp_path / "t.parquet") == {"7": NAMED}

    def test_may_be_cells_of_a_table(self, tmp_path: Path) -> None:
        rows = f"id,dialogue,speakers\n7,\"{TALK}\",\"['Ann', 'Bo', 'Bo']\"\n"
        assert said(written(tmp_path / "t.csv", rows)) == {"7": NAMED}

    def test_are_not_used_if_their_number_differs(self, tmp_path: Path) -> None:
        row = {"id": "7", "dialogue": TALK, "speakers": ["Ann", "Bo"]}
        turns = [("A", "Hi."), ("B", "Hello."), ("A", "How are you?")]
        assert said(written(tmp_path / "t.jsonl", json.dumps(row))) == {"7": turns}


class TestRowsOfSeveralAnnotators:
    HEADER = "transcript_id,utterance_id,interlocutor,utterance_text,annotator,label\n"

    def test_are_one_turn(self, tmp_path: Path) -> None:
        rows = "1,0,T,Hi.,x,a\n1,0,T,Hi.,y,b\n1,1,C,Hello.,x,a\n1,1,C,Hello.,y,a\n1,2,T,Hi.,x,a\n"
        file = written(tmp_path / "t.csv", self.HEADER + rows)
        assert said(file) == {"1": [("T", "Hi."), ("C", "Hello."), ("T", "Hi.")]}
        assert notices_of(file) == ["2 rows left out, as another row has the same id, speaker and text"]

    @pytest.mark.parametrize(
        "rows",
        [
            # Each speaker has one id, which may identify the speaker.
            "1,0,T,Yes.,x,a\n1,1,C,Yes.,x,a\n1,0,T,Yes.,x,b\n",
            # Two rows of one id differ.
            "1,0,T,Hi.,x,a\n1,0,T,Hi.,x,b\n1,0,T,Bye.,x,a\n1,1,T,Ho.,x,a\n",
        ],
    )
    def test_are_kept_if_the_id_may_identify_a_person(self, tmp_path: Path, rows: str) -> None:
        file = written(tmp_path / "t.csv", self.HEADER + rows)
        assert len(texts(file)["1"]) == rows.count("\n")
