"""Load model responses that were judged to be contradictory or not (``rgm_contradiction``; Sato et al. 2024).

Each JSON line contains a context, the response of a model, and a number of votes. The number of votes says
how many of three annotators judged that the response contradicts an earlier utterance of the same speaker.
`graphneg.ingest.labelled` describes the format.

With two or three votes, the response is loaded as a wrong response (label 0). With no vote, it is loaded as a
correct response (label 1). With a single vote, the line is rejected, because the annotators disagree.
"""

from __future__ import annotations

from graphneg.ingest.content import ItemError
from graphneg.ingest.labelled import ANNOTATORS, labelled_of
from graphneg.ingest.reading import Item
from graphneg.ingest.validation import DialogueLoader
from graphneg.model import Dialogue, Response, Utterance


class Loader(DialogueLoader):
    """Loader for the JSON Lines files of Sato et al., and files that graphneg wrote in the same format."""

    name = "rgm_contradiction"
    summary = "Sato et al. 2024: responses of generation models, contradictory or not (JSON Lines)"

    def dialogue(self, item: Item) -> Dialogue:
        """Convert the context of a line into a dialogue, with the judged response.

        Args:
            item: The decoded line.

        Returns:
            The dialogue. Its attribute ``contradicted`` is the index of the earlier utterance that the
            response may contradict.

        Raises:
            ItemError: Only one of three annotators called the response contradictory.
        """
        line = labelled_of(item.value, item.place)
        if line.label is None:
            raise ItemError(
                f"{line.votes} of {ANNOTATORS} annotators call the response contradictory, so it has no label"
            )
        said = zip(line.speakers, line.context, strict=False)
        return Dialogue(
            str(item.number),
            corpus="",
            split="",
            utterances=tuple(Utterance(turn, speaker, text) for turn, (speaker, text) in enumerate(said)),
            # The labels are reversed: a contradiction (label 1 in the file) is a wrong response (label 0).
            responses=(Response(len(line.context) - 1, line.response, 1 - line.label, line.generator),),
            attributes={"contradicted": line.contradicted_index, "votes": line.votes},
        )
