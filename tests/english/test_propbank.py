"""Tests of the reader of PropBank's frame files."""

from __future__ import annotations

from graphneg.english.propbank import FrameTable, ReadError, Roleset, load_frames, read_rolesets

WAVE = b"""<frameset><predicate lemma="wave">
<roleset id="wave.01"><aliases><alias pos="v">wave</alias></aliases>
<roles><role n="0" f="pag" descr="who  waves"/><role n="m"/></roles>
<usagenotes><usage resource="AMR" version="2019" inuse="+"/></usagenotes>
<example><text>She waves a flag .</text><propbank><rel relloc="1">waves</rel>
<arg type="ARG1" start="2" end="3"/><arg type="ARG2" start="2" end="9"/></propbank></example>
</roleset></predicate></frameset>"""


def test_a_roleset_has_roles_aliases_and_examples() -> None:
    [wave] = read_rolesets(WAVE)
    assert isinstance(wave, Roleset) and (wave.id, wave.line, wave.in_amr) == ("wave-01", 2, True)
    assert [tuple(role) for role in wave.roles] == [("0", "PAG", "who waves")]
    [example] = wave.examples
    assert (example.line, example.predicate, example.arguments) == (5, 1, (("ARG1", 2, 3),))


def test_rolesets_before_a_broken_one_are_read() -> None:
    broken = WAVE.replace(b"</predicate>", b'<roleset id="wave.02"><roles></roleset>')
    parts = read_rolesets(broken)
    assert [type(part) for part in parts] == [Roleset, ReadError]
    assert parts[1].line == 7


def test_xml_entities_are_refused() -> None:
    [fault] = read_rolesets(b'<!DOCTYPE f [<!ENTITY e "x">]>' + WAVE)
    assert isinstance(fault, ReadError) and "entity" in fault.reason


def test_a_roleset_without_a_sense_number_has_no_id() -> None:
    [odd] = read_rolesets(WAVE.replace(b"wave.01", b"wave"))
    assert isinstance(odd, Roleset) and odd.id is None


def test_a_frame_table_can_be_extended() -> None:
    table = FrameTable()
    table.add_frames(["hum-99\t0:PAG\tv:hum n:hum\t2\tdobj=1:2"])
    assert table.candidates("hum", "v") == ["hum-99"] and table.frames["hum-99"].seen == {"dobj": {"1": 2}}
    assert "hum-99" not in load_frames().frames
