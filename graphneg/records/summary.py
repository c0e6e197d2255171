"""Count the negatives that a run made, the items that it skipped, and how much it changed the texts.

Negatives are counted by transform, and skipped items by reason. To measure the changes, each edited text is
compared with its original: by the number of words, and by the overlap, which is the Jaccard index of the two
sets of lower-cased words.

Example:
    Count the negatives of a file::

        summary = Summary()
        for negative in read_jsonl("negatives.jsonl"):
            summary.add(negative)
        summary.negatives, summary.overlap   # 1200, 0.83
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphneg.english.tokens import words_of
from graphneg.english.words import table_rows
from graphneg.model import Negative

if TYPE_CHECKING:
    from rich.table import Table

EXAMPLES_PER_REASON = 3
"""Maximum number of skipped items that are stored as examples for each reason."""


def reasons() -> list[tuple[str, str, str]]:
    """Return the reasons for which a run can skip an item.

    Returns:
        For each reason: its code, the parts of graphneg that report it, and its meaning.
    """
    return [
        (code, source, meaning) for code, source, meaning in table_rows("graphneg.records", "reasons.tsv")
    ]


class Summary:
    """The counts of one run. Their size in memory does not depend on the length of the run.

    At each checkpoint, a run stores the counts that `state` returns. If the run is interrupted, the resumed
    run restores the counts with `from_state`.

    Attributes:
        negatives: Number of negatives that were made.
        transforms: Number of negatives, keyed by transform and error category.
        skipped: Number of skipped items, keyed by the code of the reason.
        examples: The first skipped items (id and explanation), keyed by the code of the reason.
        target_features: Number of negatives for which a generator planned a feature, keyed by the feature.
        features_met: Number of these negatives that have the planned feature, keyed by the feature.
        twins: Number of twins of negatives.
        proofs: Number of negatives, keyed by whether their error is proved (``True``, ``False``). Negatives
            of transforms that declare no relation are left out.
        graphs: Number of edited graphs.
        well_formed: Number of edited graphs without a defect.
    """

    def __init__(self) -> None:
        self.negatives = 0
        self.transforms: Counter[tuple[str, str]] = Counter()
        self.skipped: Counter[str] = Counter()
        self.examples: dict[str, list[str]] = {}
        self.target_features: Counter[str] = Counter()
        self.features_met: Counter[str] = Counter()
        self.twins = 0
        self.proofs: Counter[bool] = Counter()
        self.graphs = 0
        self.well_formed = 0
        self._texts = 0
        self._words_before = 0
        self._words_after = 0
        self._overlap = 0.0

    def add(self, negative: Negative) -> None:
        """Count a negative once in total, and once for each pair of transform and category in its edits.

        Args:
            negative: The negative to count.
        """
        self.negatives += 1
        if negative.proved is not None:
            self.proofs[negative.proved] += 1
        # Several edits by the same transform in the same category count once.
        made_by = {(str(edit.transform), str(edit.category)) for edit in negative.edits}
        self.transforms.update(sorted(made_by))
        for before, after in edited_texts(negative):
            words_before, words_after = words_of(before), words_of(after)
            either = set(words_before) | set(words_after)
            both = set(words_before) & set(words_after)
            self._texts += 1
            self._words_before += len(words_before)
            self._words_after += len(words_after)
            # If both texts have no words, they count as equal.
            self._overlap += len(both) / len(either) if either else 1.0

    def skip(self, reason: str, id: str) -> None:
        """Count an item for which no negative was made.

        Args:
            reason: A code from `reasons`, alone or followed by an explanation: ``code: sentence``.
            id: The id of the item.
        """
        code, _, sentence = reason.partition(":")
        self.skipped[code.strip()] += 1
        examples = self.examples.setdefault(code.strip(), [])
        # Keep only a few examples, so that memory use does not grow with the length of the run.
        if len(examples) < EXAMPLES_PER_REASON:
            examples.append(f"{id}: {sentence.strip()}" if sentence.strip() else id)

    def count_feature(self, name: str, is_met: bool) -> None:
        """Count a feature that a generator planned for a negative, and whether the negative has it.

        Args:
            name: The name of the feature.
            is_met: Whether the negative has the feature.
        """
        self.target_features[name] += 1
        self.features_met[name] += is_met

    def check(self, defects: Sequence[object]) -> None:
        """Count an edited graph that was checked for defects.

        Args:
            defects: The defects that were found in the graph.
        """
        self.graphs += 1
        self.well_formed += not defects

    @property
    def negatives_and_twins(self) -> int:
        """The number of records, which is the number of negatives plus the number of their twins."""
        return self.negatives + self.twins

    @property
    def words_before(self) -> float:
        """The mean number of words in the original texts; 0 if no text was edited."""
        return self._words_before / max(self._texts, 1)

    @property
    def words_after(self) -> float:
        """The mean number of words in the edited texts; 0 if no text was edited."""
        return self._words_after / max(self._texts, 1)

    @property
    def overlap(self) -> float:
        """The mean word overlap of edited texts with their originals, from 0 to 1."""
        return self._overlap / max(self._texts, 1)

    def table(self) -> Table:
        """Return the summary as a table, which Rich can print."""
        from rich.table import Table

        table = Table("", "count", "share", "examples")
        table.columns[1].justify = table.columns[2].justify = "right"

        def add(name: str, count: int, total: int = 0, examples: str = "") -> None:
            table.add_row(name, f"{count:,}", f"{count / total:.1%}" if total else "", examples)

        add("negatives", self.negatives)
        for (transform, category), count in sorted(self.transforms.items()):
            add(f"  {transform} ({category})", count, self.negatives)
        if self.twins:
            add("twins", self.twins, self.negatives)
        if self.proofs:
            add("error proved", self.proofs[True], self.negatives)
            add("error not proved", self.proofs[False], self.negatives)
        table.add_section()
        add("skipped", self.skipped.total())
        # List the most frequent reasons first.
        for code, count in sorted(self.skipped.items(), key=lambda item: (-item[1], item[0])):
            add(f"  {code}", count, self.skipped.total(), next(iter(self.examples[code]), ""))
        table.add_section()
        if self.target_features:
            add("target features met", self.features_met.total(), self.target_features.total())
            for name, count in sorted(self.target_features.items()):
                add(f"  {name}", self.features_met[name], count, f"of {count:,}")
            table.add_section()
        if self.graphs:
            add("well-formed graphs", self.well_formed, self.graphs)
        add("edited texts", self._texts)
        table.add_row("  words, original", f"{self.words_before:.1f}")
        table.add_row("  words, edited", f"{self.words_after:.1f}")
        table.add_row("  word overlap", f"{self.overlap:.2f}")
        return table

    def state(self) -> dict[str, Any]:
        """Return all counts as JSON values, from which `from_state` can restore them."""
        return {
            "negatives": self.negatives,
            "transforms": [[*key, count] for key, count in sorted(self.transforms.items())],
            "skipped": dict(self.skipped),
            "examples": self.examples,
            "wished": {
                name: [count, self.features_met[name]] for name, count in sorted(self.target_features.items())
            },
            "pairs": [self.twins, self.proofs[True], self.proofs[False]],
            "graphs": [self.graphs, self.well_formed],
            "texts": [self._texts, self._words_before, self._words_after, self._overlap],
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Summary:
        """Restore the counts of an interrupted run.

        Args:
            state: The result of `state`, or an empty dict.

        Returns:
            A summary with the restored counts.
        """
        summary = cls()
        if state:
            summary.negatives = state["negatives"]
            summary.transforms.update({(name, category): n for name, category, n in state["transforms"]})
            summary.skipped.update(state["skipped"])
            summary.examples = {code: list(examples) for code, examples in state["examples"].items()}
            # Older versions of graphneg stored no counts of target features and twins. Leave these at 0.
            for name, (count, met) in state.get("wished", {}).items():
                summary.target_features[name], summary.features_met[name] = count, met
            twins, proved, unproved = state.get("pairs", (0, 0, 0))
            summary.twins = twins
            # Leave out zeros, so that the table has no lines for them.
            summary.proofs.update({key: n for key, n in ((True, proved), (False, unproved)) if n})
            summary.graphs, summary.well_formed = state["graphs"]
            summary._texts, summary._words_before, summary._words_after, summary._overlap = state["texts"]
        return summary


def edited_texts(negative: Negative) -> list[tuple[str, str]]:
    """Return the original and the edited version of each text that a negative changed.

    Args:
        negative: The negative, which contains its original.

    Returns:
        Pairs of the original and the edited text. Each edited turn of a context is a separate text. If turns
        were removed from the context, the whole context is a single text.
    """
    pairs: list[tuple[str, str]] = []
    if negative.original.context is not None:
        before = [turn.text for turn in negative.original.context]
        after = [turn.text for turn in negative.context]
        if len(before) != len(after):
            # If turns were removed, turn 3 is not the same turn before and after. Compare whole contexts.
            pairs.append((" ".join(before), " ".join(after)))
        else:
            # Skip turns that were not edited: their overlap is 1, which would increase the mean overlap.
            pairs += [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    if negative.original.response is not None:
        pairs.append((negative.original.response, negative.response))
    return pairs
