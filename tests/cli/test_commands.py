"""How functions become commands: objects of options, flags and files, values by name, the help."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Annotated

import pytest
from typer import BadParameter, Option
from typer.testing import CliRunner

from graphneg.cli.commands import command, expanded, group, job, named_amounts, named_values, without_none
from graphneg.cli.options import StoreOptions
from graphneg.errors import InputError

seen: list[object] = []


@dataclass(frozen=True)
class Tea:
    """What is in the cup."""

    kind: Annotated[str, Option(help="Of which leaves.")] = "green"
    sugar: Annotated[int, Option(min=0, help="So many lumps.")] = 0


@command("cook brew --kind black")
def brew(cups: Annotated[int, Option(help="So many cups.")] = 1, *, tea: Tea) -> None:
    """Make tea.

    The water
    is hot.
    """
    seen.append((cups, tea))


@job()
def spill() -> None:
    """Make a mess."""
    raise InputError("there is no cup")


def run(*arguments: str) -> object:
    seen.clear()
    return CliRunner().invoke(group("cook", "Cook.", (brew, spill)), [*arguments])


class TestObjectsOfOptions:
    def test_stand_as_an_option_for_each_field(self) -> None:
        assert [*signature(brew.run).parameters] == ["cups", "kind", "sugar"]

    def test_reach_the_command_as_an_object(self) -> None:
        run("brew", "--cups", "2", "--sugar", "3")
        assert seen == [(2, Tea("green", 3))]

    def test_keep_the_order_in_which_they_stand(self) -> None:
        def mixed(first: int = 0, *, where: StoreOptions, last: int = 1) -> None: ...

        names = [*signature(expanded(mixed)).parameters]
        assert names == ["first", "store", "username", "password", "database", "last"]

    def test_bounds_of_a_field_hold(self) -> None:
        run("brew", "--sugar", "-1")
        assert seen == []


class TestCommands:
    def test_help_is_the_docstring_a_paragraph_a_line(self) -> None:
        assert brew.help == "Make tea.\n\nThe water is hot."
        assert "cook brew --kind black" in brew.examples

    def test_data_that_a_job_cannot_use_are_wrong_usage(self) -> None:
        with pytest.raises(InputError) as raised:
            spill.run()
        assert raised.value.status == 2


class TestValuesByName:
    @pytest.mark.parametrize("given", ["most", "=3"])
    def test_what_has_no_name_is_refused(self, given: str) -> None:
        with pytest.raises(BadParameter, match="NAME=VALUE"):
            named_values([given], "--option")

    @pytest.mark.parametrize("given", ["tea=0", "tea=true", "tea=some"])
    def test_amounts_are_whole_numbers_from_one(self, given: str) -> None:
        with pytest.raises(BadParameter, match="a whole number from 1"):
            named_amounts([given], "--mix")

    def test_what_is_not_given_is_left_out(self) -> None:
        assert without_none(a=None, b=0) == {"b": 0}
