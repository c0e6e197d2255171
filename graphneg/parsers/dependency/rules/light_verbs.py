"""Light verbs: in *take a look* the noun's frame speaks for the verb (AMR guidelines 1.2.6)."""

from __future__ import annotations

from graphneg.parsers.dependency.rules.sketch import Sketch
from graphneg.parsers.dependency.rules.word_sets import word_set

_NOUNS = {
    "make": word_set("""
        reply comment decision mistake call choice effort speech discovery suggestion contribution
        recommendation promise attempt progress complaint arrangement journey visit offer apology
        appointment reservation payment joke tour jump error gesture sketch calculation turn note
        answer drawing acquaintance announcement statement request remark proposal objection
        sacrifice prediction demand purchase escape attack landing investment comparison change
        improvement
    """),
    "take": word_set("""
        look walk rest break bath nap shower trip vacation ride drive swim photo picture guess jump
        swing flight turn dive sip bite step stroll leap glance journey
    """),
    "give": word_set("""
        call hug kiss smile answer speech reply advice demonstration suggestion order glance kick
        push pull shout cry laugh sigh command permission lecture presentation performance
        description explanation nod wave help support promise warning
    """),
    "have": word_set("""
        look talk chat rest discussion argument walk conversation fight swim dance nap need wish
        desire sleep lunch dinner breakfast fun vacation resemblance effect influence fear hope
        belief doubt respect intention encounter meeting laugh
    """),
    "do": word_set("""
        work damage harm exercise trick wheelie jump flip stunt manicure dance research cooking
        cleaning backbend cartwheel somersault handstand
    """),
}


def resolve_light_verbs(sketch: Sketch) -> None:
    """Lets the object speak for its light verb where the object has a frame of a verb's."""
    lexicon = sketch.lexicon
    for word in sketch.words:
        nouns = _NOUNS.get(word.lemma) if word.tag[:2] == "VB" else None
        noun = sketch.kid(word.i, "dobj") if nouns is not None else None
        if nouns is None or noun is None or noun.lemma not in nouns or noun.i in sketch.done:
            continue
        known = lexicon.concepts.get((noun.lemma, "n"), {})
        frames = [one for one in lexicon.candidates(noun.lemma, "n") if lexicon.frames[one].verbal]
        frames = frames or lexicon.candidates(noun.lemma, "v")
        if frames:
            best = max(frames, key=lambda one: known.get(one, 0))
            sketch.add(best, noun.i, "light-verb")
            sketch.stand_in[word.i] = noun.i
