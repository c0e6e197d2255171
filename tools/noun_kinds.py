"""Make ``nouns.tsv`` from the files of WordNet: ``python -m tools.noun_kinds DICT``.

``DICT`` is the folder with ``data.noun``, ``index.noun`` and ``index.sense``. The table assigns a kind to
each noun: *uncle*, for example, is a person. The kind is determined by the most frequent sense of the noun.
It is the first kind in `GROUPS` that covers a hypernym of the sense, or otherwise the kind of WordNet's
lexicographer file that contains the sense. Words that are more often a verb, an adjective or an adverb are
left out, as are rare words, which the bundled vectors do not contain.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from graphneg.english.words import CLOSED
from graphneg.nn.embedders import BUNDLED
from graphneg.nn.vectors import StaticVectors

GROUPS: tuple[tuple[str, frozenset[str]], ...] = tuple(
    (kind, frozenset(words.split()))
    for kind, words in (
        ("person", "person people kin couple folk"),
        ("animal", "animal"),
        ("clothes", "clothing footwear jewelry headdress eyeglasses"),
        ("vehicle", "vehicle conveyance"),
        ("drink", "beverage"),
        ("food", "food foodstuff edible_fruit produce nutriment dish"),
        ("plant", "plant plant_part flower"),
        ("body", "body_part"),
        ("occasion", "social_gathering social_event celebration trip journey meal travel"),
        ("work", "publication music written_material show piece_of_writing representation art broadcast "
         "text document"),
        ("money", "money currency payment cost coin"),
        ("time", "time_period time_unit period_of_time"),
        ("place", "building room road passageway facility location institution establishment land area "
         "geological_formation body_of_water workplace bridge housing"),
    )
)  # fmt: skip
"""Kinds, each with the hypernyms that it covers, in order of priority."""
FILES: Mapping[int, str] = {
    4: "act", 5: "animal", 6: "object", 7: "state", 8: "body", 9: "thought", 10: "message", 11: "act",
    12: "state", 13: "food", 14: "group", 15: "place", 17: "matter", 18: "person", 19: "matter", 20: "plant",
    21: "money", 22: "act", 26: "state", 27: "matter", 28: "time",
}  # fmt: skip
"""Kinds, keyed by the number of WordNet's lexicographer file. The files of quantities, relations, shapes,
motives and the most general nouns have no kind."""

OUT = Path(__file__).parents[1] / "graphneg" / "english" / "nouns.tsv"
_CLASSES = {"1": "noun", "2": "verb", "3": "adjective", "4": "adverb", "5": "adjective"}


@dataclass(frozen=True, slots=True)
class Sense:
    """A sense of a noun.

    Attributes:
        file: Number of the lexicographer file.
        words: The words of the sense's synset.
        above: Ids of the direct hypernyms.
    """

    file: int
    words: tuple[str, ...]
    above: tuple[str, ...]


def main() -> None:
    """Write the table of nouns and their kinds."""
    parser = argparse.ArgumentParser(prog="python -m tools.noun_kinds", description=__doc__)
    parser.add_argument("dict", type=Path, help="folder that contains WordNet's files")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    kinds = noun_kinds(options.dict, StaticVectors(BUNDLED).words)
    by_kind: defaultdict[str, list[str]] = defaultdict(list)
    for word in sorted(kinds):
        by_kind[kinds[word]].append(word)
    text = "".join(f"{kind}\t{' '.join(by_kind[kind])}\n" for kind in sorted(by_kind))
    options.out.write_text(text, "utf-8")
    print(f"{options.out}: {len(kinds)} nouns of {len(by_kind)} kinds")


def noun_kinds(folder: Path, words: Iterable[str]) -> dict[str, str]:
    """Return the kinds of words that are mostly nouns.

    Args:
        folder: Folder of WordNet's files.
        words: The words to look up.

    Returns:
        Kinds, keyed by noun. Nouns without a kind are left out.
    """
    senses = dict(_senses(folder / "data.noun"))
    first = dict(_first_senses(folder / "index.noun"))
    uses = _uses(folder / "index.sense")
    found: dict[str, str] = {}
    for word in words:
        if not word.isalpha() or len(word) < 3 or word in CLOSED or word not in first:
            continue
        if not _is_mostly_noun(word, uses[word]):
            continue
        sense = senses[first[word]]
        # Proper names, such as "Paris", are written with a capital in the synset.
        if all(one[:1].isupper() for one in sense.words if one.lower() == word):
            continue
        kind = _kind_of_sense(sense, senses)
        if kind is not None:
            found[word] = kind
    return found


def _kind_of_sense(sense: Sense, senses: Mapping[str, Sense]) -> str | None:
    above = _words_of_sense_and_hypernyms(sense, senses)
    grouped = next((kind for kind, names in GROUPS if not names.isdisjoint(above)), None)
    # Groups are more precise than files: a car and a hat are both in the file of artifacts.
    return grouped or FILES.get(sense.file)


def _words_of_sense_and_hypernyms(sense: Sense, senses: Mapping[str, Sense]) -> set[str]:
    words: set[str] = set()
    # A sense can have several hypernyms, and the paths to the root can meet.
    pending, met = [sense], {sense}
    while pending:
        one = pending.pop()
        words.update(one.words)
        higher = [senses[id] for id in one.above]
        pending += [other for other in higher if other not in met]
        met.update(higher)
    return words


def _is_mostly_noun(word: str, uses: Counter[str]) -> bool:
    """Return whether a word is at least as often a noun as a verb, adjective or adverb in annotated texts."""
    # "Swimming" is mostly a verb form, even if it does not occur in the annotated texts.
    if word.endswith("ing") and uses["noun"] < 2:
        return False
    return uses["noun"] >= max(uses["verb"], uses["adjective"], uses["adverb"])


def _lines(path: Path) -> Iterator[list[str]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith(" "):
                yield line.partition("|")[0].split()


def _senses(path: Path) -> Iterator[tuple[str, Sense]]:
    for fields in _lines(path):
        end = 4 + 2 * int(fields[3], 16)
        pointers = [fields[at : at + 3] for at in range(end + 1, end + 1 + 4 * int(fields[end]), 4)]
        # In WordNet's files, "@" marks a hypernym, and "@i" marks the class of an instance.
        above = tuple(target for symbol, target, part in pointers if symbol in ("@", "@i") and part == "n")
        yield fields[0], Sense(int(fields[1]), tuple(fields[4:end:2]), above)


def _first_senses(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each noun with the id of its most frequent sense."""
    for fields in _lines(path):
        # The index lists senses by their frequency in annotated texts.
        yield fields[0], fields[-int(fields[2])]


def _uses(path: Path) -> defaultdict[str, Counter[str]]:
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for key, _, _, count in _lines(path):
        word, _, rest = key.partition("%")
        found[word][_CLASSES[rest[0]]] += int(count)
    return found


if __name__ == "__main__":
    main()
