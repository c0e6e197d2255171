"""Test how plugins are found by name, which one of two is used, their options and the error messages."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from graphneg import plugins
from graphneg.errors import DecoderError
from graphneg.plugins import Plugins

GROUP = "graphneg.decoders"
PLUGINS = Plugins("decoder", GROUP, DecoderError)


class Plain:
    """A plugin that takes the argument for all plugins of its kind, and one option."""

    def __init__(self, given: str = "", beams: int = 1) -> None:
        if beams < 1:
            raise TypeError("beams below 1")
        self.made_with = (given, beams)


class Named:
    """A plugin whose name differs from the name of its entry point."""

    name = "right"


def anything(**options: Any) -> dict[str, Any]:
    """Act as a plugin that takes any option."""
    return options


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the installed plugins with those of this module. Two are named ``surface``."""
    named = {
        "Plain": f"{__name__}:Plain",
        "any-thing": f"{__name__}:anything",
        "gone": "no.such.module:Part",
        "nameless": f"{__name__}:nothing",
        "misnamed": f"{__name__}:Named",
    }
    entries = [EntryPoint(name, value, GROUP) for name, value in named.items()]
    entries += [
        EntryPoint("surface", f"{__name__}:anything", GROUP),
        EntryPoint("surface", "graphneg.decoders.surface.decoder:SurfaceDecoder", GROUP),
    ]
    monkeypatch.setattr(plugins, "entry_points", lambda group: entries if group == GROUP else [])


def test_names_stand_in_alphabetical_order_and_once() -> None:
    assert PLUGINS.names() == ["Plain", "any-thing", "gone", "misnamed", "nameless", "surface"]


@pytest.mark.parametrize("name", ["any-thing", "any_thing", " Any-Thing "])
def test_hyphens_and_capitals_do_not_count(name: str) -> None:
    assert PLUGINS.find(name) is anything


def test_of_two_parts_of_a_name_the_other_package_s_goes_first() -> None:
    assert PLUGINS.find("surface") is anything


def test_a_part_is_made_of_what_all_are_given_and_its_options() -> None:
    assert PLUGINS.make("plain", {"beams": 2}, "a store").made_with == ("a store", 2)
    assert PLUGINS.make("any_thing", {"whatever": 1}) == {"whatever": 1}


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("plane", {}, "no decoder named 'plane'; choose one of Plain, any-thing"),
        (
            "plain",
            {"beam": 2, "size": 1},
            "decoder plain takes no option 'beam' or 'size'; it takes given, beams",
        ),
        ("plain", {"beams": 0}, r"decoder plain can't be made with options \['beams'\]: beams below 1"),
        ("gone", {}, r"gone \(no\.such\.module:Part\) can't be imported: No module named 'no'"),
        ("nameless", {}, r"nameless \(.*:nothing\) can't be imported: .*nothing.*'$"),
        ("misnamed", {}, r"misnamed \(.*:Named\) has the name 'right'; use the same name"),
    ],
)
def test_what_can_not_be_had_is_told_in_its_own_kind_of_error(
    name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(DecoderError, match=message):
        PLUGINS.make(name, options)
