"""The store's own dialogues as part of the pool: what they say, cut into sentences.

Utterances and right responses of each dialogue become sentences once; the dialogue is marked then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphneg.editing.originals import read_dialogues
from graphneg.loading.matching import Grouping
from graphneg.loading.pools import sentence
from graphneg.loading.report import LoadReport
from graphneg.loading.rows import utterance_id
from graphneg.loading.sentences import joined_tokens, sentences_in
from graphneg.loading.writing import write_records
from graphneg.model import Rejected, Sentence
from graphneg.progress import NoProgress, Progress
from graphneg.store import Store, cypher_text
from graphneg.store.running import run

PAGE = 500
NAME = "overlap"


def pool_dialogues(store: Store, progress: Progress | None = None) -> LoadReport:
    """Write the sentences of dialogues that are not in the pool yet; stopped, the next call goes on.

    Raises:
        StoreError: the store is gone.
    """
    progress = progress or NoProgress()
    report = LoadReport(NAME)
    total = store.read(cypher_text("overlap/count_unpooled"))[0]["dialogues"]
    if not total:
        return report
    progress.start("sentences of dialogues", total, "dialogues")
    after = ""
    while True:
        page = store.read(cypher_text("overlap/unpooled"), after=after, limit=PAGE)
        ids = [row["id"] for row in page]
        write_records(store, _sentences(store, ids), report, Grouping(NAME, NAME, 1))
        if ids:
            store.write(lambda transaction, ids=ids: run(transaction, "overlap/pooled", ids=ids))
        progress.advance(len(ids))
        if len(page) < PAGE:
            break
        after = page[-1]["order"]
    progress.finish()
    return report


def _sentences(store: Store, ids: Sequence[str]) -> Iterator[Sentence | Rejected]:
    rows = store.read(cypher_text("read/responses"), ids=list(ids))
    responses = {row["id"]: [(r[0], r[2]) for r in row["responses"] if r[3] == 1] for row in rows}
    for dialogue in read_dialogues(store, ids):
        texts = [(utterance_id(dialogue.id, turn.turn), turn.text) for turn in dialogue.turns]
        for id, text in [*texts, *responses.get(dialogue.id, ())]:
            for number, part in enumerate(sentences_in(joined_tokens(text))):
                name = f"{id}.{number}"
                made = sentence(name, part, f"{dialogue.corpus}/{dialogue.split}", name)
                yield made if isinstance(made, Rejected) else Sentence(name, part, made.source, dialogue.id)
