"""Tags each token of a sentence with a part of speech, in tens of microseconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from graphneg.english.words import inflections, readings

# Tables of the tagger: closed-class words, and what part of speech follows what.
#
# Tags are Penn's, with these of our own: ``PRS`` a pronoun as subject, ``PRO`` as object, ``PN`` an
# indefinite
# or demonstrative one; ``PS`` a possessive; ``AX`` a finite form of be, have, do; ``SC`` a subordinator;
# ``NEG`` not; ``QT`` a quotation mark or bracket; ``PU`` other marks inside a sentence; ``EN`` its end.
# Costs are hand-set: 0 is usual, 6 next to impossible.


_CLOSED = {
    "DT": (
        "the a an every each these:1 those:1 this:.2 that:.9 some:.2 any:.2 no:.2 all:.4 both:.5 "
        "half:1.5 another:.3 either:1 neither:1 such:.4 what:2 which:1.5 many:.3 few:.3 several:.3 "
        "much:.8 more:.9 most:.9 less:1 enough:1 own:4"
    ),
    "PS": "my your his its our their her:.3 whose",
    "PRS": "i he she we they you:.3 it:.3 who:2",
    "PRO": (
        "me him us them you:.4 it:.4 her:.4 'em myself yourself himself herself itself ourselves "
        "themselves yourselves oneself 's:3.5"
    ),
    "PN": (
        "this:.4 that:.5 these:.5 those:.5 everyone everybody someone somebody anyone anybody nobody "
        "none nothing something anything everything one:.4 ones mine yours hers:0 ours theirs all:.9 "
        "both:1 some:1 any:1.2 another:1 each:1.2 many:1.2 few:1 several:1.2 much:1 more:1 most:1.2 "
        "enough:1 such:1.5 less:1.2 what:1.6"
    ),
    "AX": "am is are was were do does did have has had 'm 're 've 's:.4 'd:.6 ai be:9",
    "MD": (
        "can could may might must shall should will would ca wo sha 'll 'd:.3 need:3.5 ought cannot dare:3"
    ),
    "NEG": "not n't",
    "EX": "there:.3",
    "TO": "to:0",
    "IN": (
        "of in on at by with from for into onto about over under through between among against "
        "without within during across behind beyond near beside besides along around above below "
        "toward towards upon per like:.7 as:.6 than:.5 to:.5 off:.6 up:1 down:1 out:.9 before:.6 "
        "after:.6 since:1 until:.7 till:.8 except:.5 despite inside:.5 outside:.5 past:1 unlike via "
        "but:2.5 because:3 instead:2"
    ),
    "SC": (
        "that:.3 if whether because although though while unless when:.9 where:1.2 since:.4 until:.5 "
        "till:.6 before:.8 after:.8 as:.6 so:1.6 than:1 once:1 whenever wherever lest for:1.9 whereas "
        "like:2.2 how:1.4 why:1.6 even:3.5"
    ),
    "CC": "and or but nor:.3 yet:.9 & plus:1 so:2",
    "WP": "what who whom which where:.3 when:.3 why how:.3 whoever whatever that:1.3",
    "UH": (
        "oh ah yes no:1.2 okay ok hello hi hey well:1 please:.3 yeah yep nope hum hmm um uh wow alas "
        "goodbye bye thanks:1 eh sir:1.5 ha aha right:2.5 lol haha hahaha oops"
    ),
    "RB": (
        "n:9 never always often very too:.1 so:.3 just still already also even ever only:.3 quite "
        "rather almost perhaps maybe again then now here there:.3 away back:.4 up:.5 down:.5 out:.5 "
        "off:.8 over:1.2 in:1.6 on:1.5 around:1 about:1 yet:.6 however therefore indeed soon later:.4 "
        "once:.6 twice sometimes usually really together forever instead else not:9 well:.3 much:.9 "
        "more:.6 most:.7 less:.9 enough:.8 no:2.5 all:1.6 today:.6 tomorrow:.6 yesterday:.6 "
        "tonight:.6 as:.9 either:1 neither:1.3 home:1.6 long:1 hard:1.2 fast:1 far:.6 early:.6 "
        "late:.7 first:.9 last:1.5 alone:.9 anyway somewhere anywhere nowhere everywhere how:1 "
        "why:1.6 scarcely hardly barely thus seldom rarely ago before:1 through:1.5 along:1 by:2.5 "
        "little:1.4 right:1.5 please:1.5 inside:1 outside:1 upstairs downstairs"
    ),
    "JJ": (
        "little:.3 own:.2 other:.1 same:.1 such:1 first:.4 last:.5 next:.3 only:.9 very:3 early:.5 "
        "late:.5 long:.4 hard:.5 far:1 few:1 many:1 much:1.5 more:1.2 right:.6 well:1.6 just:3 "
        "alone:.7 several:1.5 sure:.1 back:1.5 down:3 ready afraid able alive asleep aware available "
        "unable okay:.5 ok:.5 fine:.2 like:3.5 worth:.6 less:1.6 enough:1.2 good nice great old new "
        "big small"
    ),
    "NN": (
        "one:2.5 today:.6 tomorrow:.6 yesterday:.6 tonight:.6 home:.4 back:1.5 right:.9 well:4 way:0 "
        "lot:0 bit:.2 sort:.2 kind:.3 rest:.4 like:5 light:.2 question:0 can:5 will:3 might:4 may:5 "
        "must:5 need:1.5 time:0 sir:.5 no:5 kindness past:1 while:2.5 morning evening night other:1.2 "
        "others:0 first:2"
    ),
    "NNS": "lots:0 others:0 people:0 thanks:1",
    "VBP": "need:.9 like:.7",
    "VB": "be like:.6 do have need:1.2 let:.6 please:2",
    "VBN": "been done had:1.4 let:1.5 born:0 gone:0",
    "VBG": "being having doing going",
    "CD": "one:.3",
}
_FOLLOWS = {
    "START": (
        "PRS0 PN.3 DT0 PS0 NNP.5 NN1 NNS.7 JJ1 RB.6 VB1.5 VBG1.5 VBN2 AX1 MD1 IN.7 SC.5 CC.4 WP.3 "
        "EX.4 UH.3 CD.7 TO1.5 QT0 PU.5 EN1 NEG2 VBP3.2 VBZ4 VBD4 PRO2.2"
    ),
    "DT": (
        "NN0 NNS0 JJ0 VBN.9 VBG1 CD.5 RB1.5 NNP.5 PN1.5 IN3 QT1.5 EN4 PU3.5 VBZ6 VBD6 VBP6 MD6 AX6 "
        "PRS6 PRO6 DT2"
    ),
    "PS": (
        "NN0 NNS0 JJ0 VBN1.2 VBG1.2 CD.7 RB2 NNP.5 QT1.5 EN5 PU4 VBZ6 VBD6 VBP6 MD6 AX6 PRS6 PRO6 DT6 PS6"
    ),
    "PRS": (
        "VBP0 VBD0 VBZ0 AX0 MD0 RB.5 NEG2 PU1.2 CC1.5 EN2.5 QT2 VB2.2 VBN1.5 VBG1.5 NN4 NNS4 JJ3 DT3 "
        "IN2.5 TO2.5 PN1.8 CD2.5 PRO2.5"
    ),
    "PRO": (
        "EN0 PU.5 QT.6 IN.3 TO.3 RB.5 CC.7 VB1.2 VBG1.2 VBN1.7 JJ1.4 DT.7 PS1 NN2.5 NNS2 SC.7 WP.8 "
        "PRS1 PN1.5 CD1.5 VBP4.5 VBZ4.5 VBD4.5 AX3.5 MD3.5 NEG1.2"
    ),
    "PN": (
        "EN.2 PU.4 QT.6 IN.2 TO.4 RB.5 CC.7 VBZ.4 VBD.5 VBP.6 AX0 MD0 PRS.7 SC.8 WP.5 NN2.5 NNS2 JJ1 "
        "VB2.5 VBG1.5 VBN1.5 NEG2 POS.5 DT2"
    ),
    "NN": (
        "EN0 PU0 QT.3 IN0 VBZ.7 VBD.7 AX.3 MD.3 CC.3 POS.2 NN1 NNS1 TO.6 RB.7 SC.7 WP.5 PRS1 VBN1.3 "
        "VBG1.3 JJ2.5 VBP2.8 VB4 DT2 NEG3 PN1.7 PS2.5 NNP1.5 CD1.5 EX3 PRO2.5"
    ),
    "NNS": (
        "EN0 PU0 QT.3 IN0 VBZ3 VBD.7 VBP.7 AX.3 MD.3 CC.3 POS.4 NN2 NNS2 TO.6 RB.7 SC.7 WP.5 PRS1 "
        "VBN1.3 VBG1.3 JJ2.5 VB3.5 DT2 NEG3 PN1.7 PS2.5 NNP2 CD2 EX3 PRO2.5"
    ),
    "NNP": (
        "EN0 PU0 QT.3 IN.2 VBZ.6 VBD.6 AX.2 MD.2 CC.3 POS0 NN.8 NNS1 NNP0 TO.7 RB.8 SC.8 WP.7 PRS1.5 "
        "VBN1.5 VBG1.5 JJ2.5 VBP2.5 VB3.5 CD.8 DT2"
    ),
    "CD": (
        "NN.2 NNS0 JJ.5 EN.5 PU.5 QT.6 IN.7 AX1 MD1 CC.5 RB.9 VBZ1.5 VBD1.5 VBP1.5 CD.3 NNP.8 SC1 "
        "TO1.2 POS3 VBN2"
    ),
    "JJ": (
        "NN0 NNS0 JJ.7 EN.3 PU.5 QT.5 CC.5 IN.5 TO.5 SC.8 NNP1 VBG1.6 VBN2 CD1.5 RB1.5 PRS1.6 DT2 "
        "VB3.5 VBP3.5 VBZ3.5 VBD3.5 AX2 MD2 WP1.2 PN1.4 PS3"
    ),
    "RB": (
        "VB.7 VBP.6 VBZ.6 VBD.6 VBN.6 VBG.6 JJ.2 RB.5 EN.3 PU.4 QT.4 IN.5 AX.7 MD1 DT.7 PRS.6 NN2 "
        "NNS1.5 CC.8 SC.8 WP1 CD.7 PN.7 PS.7 TO.6 PRO2.2 NNP1.2 NEG1.2 EX1"
    ),
    "VB": (
        "DT0 PS0 PRO0 IN.3 TO.3 RB.4 EN.4 PU.4 QT.5 NN1 NNS.6 NNP.6 JJ.7 SC.5 WP.5 PN.3 CD.6 PRS1.4 "
        "VBG1.2 VBN1.5 CC.7 VB2.5 NEG1.5 VBP4.5 VBZ4.5 VBD4.5 AX3.5 MD3.5"
    ),
    "VBN": (
        "IN0 TO.3 RB.4 EN.3 PU.3 QT.5 CC.6 DT.4 PS.4 PRO.4 NN.9 NNS.9 JJ.8 SC.5 WP.6 PN.6 CD.8 PRS1.2 "
        "NNP1.2 VBG1.3 VBN1.5 VB3 VBP4.5 VBZ4.5 VBD4.5 AX3 MD3 NEG2.5"
    ),
    "AX": (
        "NEG0 VBN.2 VBG.2 JJ.3 DT.2 RB.3 PRS.4 PRO.9 PN.4 NN1 NNS.8 IN.4 TO.4 WP.6 SC1 PS.3 EX.5 "
        "NNP.7 CD.6 VB.7 EN1 PU1 QT1 CC1.5 AX4 MD5 VBP5 VBZ5 VBD5"
    ),
    "MD": (
        "VB0 NEG0 RB.4 PRS.4 DT1 PS1.1 NN2 NNS2 NNP1.1 PN.6 EN1.5 PU1.2 QT1.5 CC2 TO1.5 IN2.5 AX5 "
        "VBN5 VBP5 VBZ5 VBD5 JJ3.5 PRO3 EX.8"
    ),
    "NEG": (
        "VB.1 VBG.3 VBN.3 JJ.3 DT.4 RB.4 IN.6 TO.4 PRS.8 NN1.2 NNS1 EN.5 PU.5 PN.7 SC1 PS.6 CD1 NNP1 "
        "PRO1.5 VBP4 VBZ5 VBD5 QT1 WP1.5 CC1 EX1"
    ),
    "TO": ("VB0 RB1 NEG3 AX6 VBN6 VBG5 VBD6 VBZ6 VBP6 NN6 NNS6 DT6 PS6 PRO6 NNP5 PN6 EN1.5 PU2 CD6 JJ6 QT3"),
    "IN": (
        "DT0 PS0 PRO0 NN.4 NNS.3 NNP.3 VBG.5 CD.5 JJ.5 PN.2 WP.6 RB1.2 IN1 SC2 PRS3 EN1.2 PU1.3 QT.9 "
        "TO4 VB5 VBP6 VBZ6 VBD6 VBN3.5 AX4 MD5 CC2 EX4"
    ),
    "SC": (
        "PRS0 DT.1 PS.1 NN.7 NNS.4 NNP.3 EX.2 PN.2 RB.7 JJ.8 VBG1 TO1 IN.7 VBN1.5 VBP2.8 VBZ2.5 "
        "VBD2.5 AX1.8 MD1.8 PU1 SC1.5 CD.8 VB3 QT1 WP1.5 EN2.5 PRO3 UH3"
    ),
    "CC": (
        "PRS.3 DT.3 PS.3 NN.6 NNS.6 NNP.5 VBD.8 VBP.9 VBZ.9 VB.8 VBG.8 VBN.8 AX.8 MD.8 RB.6 JJ.6 IN.7 "
        "SC.8 WP.8 PN.5 CD.6 TO.8 EX.7 PRO1 QT.8 PU.8 NEG1.5 EN2.5 UH1.2"
    ),
    "WP": (
        "AX.3 MD.4 PRS.2 VBZ.5 VBD.5 VBP.6 NN.9 JJ.8 RB.8 DT.5 PS.5 TO.5 NNS.9 EN.8 PU.9 QT1 NNP.6 "
        "PN.6 IN1.2 VB2.5 VBG2 VBN2.5 EX.8 CC1 CD1"
    ),
    "EX": "AX0 MD0 VBZ.6 VBD.6 VBP.6 RB1 NN4 EN2 PU2",
    "UH": "PU0 EN0 QT.3 UH.6 CC.8 PRS.8 DT.9 NN1 RB.8 AX1 MD1 VB1.2 WP.8 PN.8 IN1.2 JJ1.2",
    "POS": "NN0 NNS0 JJ0 CD1 VBN1.2 VBG1.2 RB2 NNP.7 EN1.5 PU1.5 IN2 VBZ5 VBD5 VBP5",
    "PU": (
        "PRS.2 PN.4 DT.1 PS.2 NNP.5 NN.8 NNS.7 JJ.8 RB.5 VB1.4 VBG.9 VBN1.2 VBD1.4 VBP2 VBZ1.8 AX1 "
        "MD1 IN.5 SC.4 CC.2 WP.5 EX.5 UH.8 CD.7 TO1 QT.2 PU.5 EN1 NEG1 PRO1.8"
    ),
}
_FOLLOWS["EN"] = _FOLLOWS["START"]
_FOLLOWS["QT"] = _FOLLOWS["PU"] + " VBD.6 VBZ1.2 EN.3"
for _tag in ("VBP", "VBZ", "VBD", "VBG"):
    _FOLLOWS[_tag] = _FOLLOWS["VB"]
_FOLLOWS["VBP"] += " PRS.8"
_FOLLOWS["VBD"] += " PRS.8"
_FOLLOWS["VBZ"] += " PRS.8"
TAGS = tuple(_FOLLOWS)
DEFAULT_FOLLOW = 3.0
NOUNS = frozenset({"NN", "NNS", "NNP"})
FINITE = frozenset({"VBP", "VBZ", "VBD", "AX", "MD"})
VERBS = FINITE | {"VB", "VBN", "VBG"}


def _split(cell: str) -> tuple[str, float]:
    tag = cell.rstrip("0123456789.")
    return tag, float(cell[len(tag) :] or 0)


def _closed_words() -> dict[str, dict[str, float]]:
    words: dict[str, dict[str, float]] = {}
    for tag, listed in _CLOSED.items():
        for cell in listed.split():
            word, _, cost = cell.partition(":")
            words.setdefault(word, {})[tag] = float(cost or 0)
    return words


CLOSED = _closed_words()
FOLLOWS = {tag: dict(_split(cell) for cell in listed.split()) for tag, listed in _FOLLOWS.items()}


# Tags each token of a sentence with a part of speech, in tens of microseconds.
#
# A bigram Viterbi over hand-set costs (``tag_tables``), open-class words from lemminflect. The AMR graph
# helps: a token that stands for a frame is rather a verb, one that stands for a plain concept rather is not.


_OPEN = {"NOUN": ("NN", "NNS"), "VERB": ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG")}
_ENDS = frozenset(".!?…")
_QUOTES = frozenset("\"'“”‘’«»()[]{}`")
_OWN_NOTHING = frozenset({"that", "it", "he", "she", "there", "here", "what", "where", "who", "how", "when"})
_BEFORE_ADJECTIVES = frozenset(
    {
        "is",
        "are",
        "was",
        "were",
        "am",
        "'re",
        "'m",
        "be",
        "been",
        "very",
        "too",
        "so",
        "quite",
        "pretty",
        "how",
        "all",
    }
)
_VERB_TAGS = frozenset({"VB", "VBP", "VBZ", "VBD", "VBN", "VBG"})


def tag(tokens: Sequence[str], frames: Mapping[int, str]) -> list[str]:
    """One tag a token. ``frames``: by token, ``verb``, ``predicate`` or ``plain`` where the graph knows."""
    if not tokens:
        return []
    costs: dict[str, float] = {"START": 0.0}
    back: list[dict[str, str]] = []
    for place, token in enumerate(tokens):
        start = place == 0 or tokens[place - 1] in _ENDS or tokens[place - 1] in _QUOTES
        before = tokens[place - 1].lower() if place else ""
        clitic = token.lower() in ("'s", "’s")
        if clitic and before == "let":
            emissions = {"PRO": 0.0}
        elif clitic and before in _OWN_NOTHING:
            emissions = {"AX": 0.0}
        else:
            emissions = _emissions(token, start)
            if not _describes(emissions, before):
                emissions = _with_graph(emissions, frames.get(place))
        now: dict[str, float] = {}
        came: dict[str, str] = {}
        for current, emission in emissions.items():
            best, best_from = 1e9, "START"
            for previous, cost in costs.items():
                total = cost + FOLLOWS[previous].get(current, DEFAULT_FOLLOW)
                if total < best:
                    best, best_from = total, previous
            now[current] = best + emission
            came[current] = best_from
        costs = now
        back.append(came)
    current = min(costs, key=lambda one: costs[one])
    tags: list[str] = []
    for came in reversed(back):
        tags.append(current)
        current = came[current]
    return tags[::-1]


def _describes(emissions: Mapping[str, float], before: str) -> bool:
    """``very cool``, ``are all busy``: an adjective, though its frame is a verb's as well."""
    return "JJ" in emissions and before in _BEFORE_ADJECTIVES and not {"VBN", "VBG"} & emissions.keys()


def _with_graph(emissions: dict[str, float], frame: str | None) -> dict[str, float]:
    if frame is None or len(emissions) == 1:
        return emissions
    adjusted = dict(emissions)
    for known in emissions:
        is_verb = known in _VERB_TAGS
        if frame == "plain" and is_verb:
            adjusted[known] += 2.0
        elif frame == "verb" and not is_verb and known != "AX":
            adjusted[known] += 1.2
        elif frame == "predicate" and known in ("NN", "NNS"):
            adjusted[known] += 0.3
    return adjusted


@lru_cache(maxsize=65536)
def _emissions(token: str, sentence_start: bool) -> dict[str, float]:
    """Costs by tag of a token on its own."""
    low = token.lower().replace("’", "'")
    if not any(character.isalnum() for character in token):
        return _mark(token)
    if token[0].isdigit():
        return {"CD": 0.0} if not low.endswith(("st", "nd", "rd", "th")) else {"JJ": 0.0, "CD": 0.5}
    if low == "'s":
        return {"AX": 0.5, "POS": 0.5, "PRO": 4.0}
    known = CLOSED.get(low)
    if known is not None and len(known) == 1:
        return known
    found = dict(known or {})
    proper = token[0].isupper() and not sentence_start and low not in CLOSED
    for candidate, cost in _open_class(low).items():
        found.setdefault(candidate, cost + (2.0 if known else 0.0))
    if proper:
        found = {one: cost + 1.5 for one, cost in found.items()}
        found["NNP"] = 0.0
    elif token[0].isupper() and low not in CLOSED:
        found.setdefault("NNP", 1.0 if not found else 2.5)
    return found or {"NNP" if token[0].isupper() else "NN": 0.0, "NNS": 1.0 if low.endswith("s") else 3.0}


def _mark(token: str) -> dict[str, float]:
    if token[0] in _ENDS and (len(token) == 1 or token[0] != "." or token.startswith("..")):
        return {"EN": 0.0}
    if token in _QUOTES:
        return {"QT": 0.0}
    return {"CC": 0.0} if token == "&" else {"PU": 0.0}


@lru_cache(maxsize=65536)
def _open_class(low: str) -> dict[str, float]:
    found: dict[str, float] = {}
    by_upos = readings(low)
    for upos, lemmas in by_upos.items():
        if upos == "ADJ":
            found["JJ"] = 0.3 if len(by_upos) > 1 else 0.0
        elif upos == "ADV":
            found["RB"] = 0.3 if len(by_upos) > 1 else 0.0
        elif upos == "PROPN":
            found.setdefault("NNP", 1.0)
        elif upos in _OPEN:
            for lemma in lemmas:
                forms = inflections(lemma, upos)
                for penn in _OPEN[upos]:
                    if low in forms.get(penn, ()):
                        found[penn] = 0.2
    if "NNS" in found and "NN" in found and low.endswith("s") and not low.endswith("ss"):
        found["NN"] += 1.0
    elif "NNS" in found and "NN" in found:
        found["NNS"] += 1.2
    if low.endswith(("ed", "en")) and "JJ" in found and "VBN" in found:
        found["JJ"] += 0.2
    return found or _guess(low)


def _guess(low: str) -> dict[str, float]:
    """An unknown word, by its ending."""
    if low.endswith("ly"):
        return {"RB": 0.0, "JJ": 1.0}
    if low.endswith("ing"):
        return {"VBG": 0.0, "NN": 0.7}
    if low.endswith("ed"):
        return {"VBD": 0.3, "VBN": 0.3, "JJ": 0.5}
    if low.endswith(("ous", "ful", "able", "ible", "ish", "less", "ive", "ic")) or "-" in low:
        return {"JJ": 0.0, "NN": 0.7}
    if low.endswith("s") and not low.endswith(("ss", "us", "is")):
        return {"NNS": 0.0, "VBZ": 1.0, "NN": 1.5}
    return {"NN": 0.0, "JJ": 1.0, "VB": 1.5, "VBP": 1.5}
