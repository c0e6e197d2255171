"""`rgm_contradiction`: responses of models that contradict their speaker, or not (Sato et al. 2024).

JSON Lines; each is a context and the response of one model, with how many of three annotators called
it contradictory to an earlier utterance. Two of three make it a wrong response (label 0), none a right
one (label 1); where one stands alone, people do not agree, and the line is refused.
"""

from __future__ import annotations

from graphneg.ingest.content import Refused
from graphneg.ingest.labelled import ANNOTATORS, labelled_of
from graphneg.ingest.reading import Item
from graphneg.ingest.validation import DialogueLoader
from graphneg.model import Dialogue, Response, Utterance


class Loader(DialogueLoader):
    """The JSON Lines files of Sato et al.'s collection, and those that graphneg's own collection writes."""

    name = "rgm_contradiction"
    summary = "Sato et al. 2024: responses of generation models, contradictory or not (JSON Lines)"

    def dialogue(self, item: Item) -> Dialogue:
        """The context of a labelled response, with that response."""
        line = labelled_of(item.value, item.place)
        if line.label is None:
            raise Refused(f"{line.votes} of {ANNOTATORS} annotators call it contradictory: it is neither")
        said = zip(line.speakers, line.context, strict=False)
        return Dialogue(
            str(item.number),
            corpus="",
            split="",
            utterances=tuple(Utterance(turn, speaker, text) for turn, (speaker, text) in enumerate(said)),
            responses=(Response(len(line.context) - 1, line.response, 1 - line.label, line.generator),),
            attributes={"contradicted": line.earlier, "votes": line.votes},
        )
