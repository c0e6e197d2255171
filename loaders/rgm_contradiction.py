"""Load model responses that contradict their speaker, or do not (``rgm_contradiction``; Sato et al. 2024).

Each JSON line is a context with the response of a model, and the number of annotators, out of three,
who called the response contradictory to an earlier utterance. `graphneg.ingest.labelled` describes the
format.

Two or three votes make a wrong response (label 0), and no votes a correct one (label 1). A line with
one vote is rejected, because the annotators do not agree.
"""

from __future__ import annotations

from graphneg.ingest.content import Refused
from graphneg.ingest.labelled import ANNOTATORS, labelled_of
from graphneg.ingest.reading import Item
from graphneg.ingest.validation import DialogueLoader
from graphneg.model import Dialogue, Response, Utterance


class Loader(DialogueLoader):
    """Loader of the JSON Lines files of Sato et al., and of files that graphneg writes in this format."""

    name = "rgm_contradiction"
    summary = "Sato et al. 2024: responses of generation models, contradictory or not (JSON Lines)"

    def dialogue(self, item: Item) -> Dialogue:
        """Return the context of a line as a dialogue, with the labelled response.

        Args:
            item: The decoded line.

        Returns:
            The dialogue. Its attribute ``contradicted`` is the index of the earlier utterance.

        Raises:
            Refused: One annotator of three calls the response contradictory.
        """
        line = labelled_of(item.value, item.place)
        if line.label is None:
            raise Refused(f"{line.votes} of {ANNOTATORS} annotators call it contradictory: it is neither")
        said = zip(line.speakers, line.context, strict=False)
        return Dialogue(
            str(item.number),
            corpus="",
            split="",
            utterances=tuple(Utterance(turn, speaker, text) for turn, (speaker, text) in enumerate(said)),
            # A contradiction (1) is a wrong response (0).
            responses=(Response(len(line.context) - 1, line.response, 1 - line.label, line.generator),),
            attributes={"contradicted": line.earlier, "votes": line.votes},
        )
