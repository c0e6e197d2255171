"""How functions become commands: objects of options, flags and files, values by name, the help."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Annotated

import pytest
from typer import BadParameter, Option
from typer.testing import CliRunner, Result

from graphneg.cli.commands import (
    argument,
    command,
    group,
    named_amounts,
    named_values,
    option,
    shared,
    training_command,
    with_expanded_options,
    without_none,
)
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


@command("cook serve --no-milk")
def serve(
    *,
    cold: bool = option(False, "Without heating."),
    recipe_file: Path | None = option(None, "How it is made."),
    photo: list[Path] | None = option(None, "What it looks like.", "PHOTO"),
    strength: Annotated[int, shared("So strong.", min=1)] = 2,
    guest: str = argument("nobody", "Who drinks.", "GUEST"),
    tea: Tea = Tea("black", 1),
) -> None:
    """Bring tea."""
    seen.append((cold, recipe_file, photo, strength, guest, tea))


@training_command()
def spill() -> None:
    """Make a mess."""
    raise InputError("there is no cup")


@command()
def drop() -> None:
    """Make a larger mess."""
    raise InputError("there is no pot")


@command()
def wait() -> None:
    """Wait for guests."""
    raise KeyboardInterrupt


def run(*arguments: str) -> Result:
    seen.clear()
    cook = group("cook", "Cook.", (brew, serve, spill, drop, wait), "cook brew")
    return CliRunner().invoke(cook, [*arguments], env={"COLUMNS": "100", "NO_COLOR": "1"})


class TestObjectsOfOptions:
    def test_stand_as_an_option_for_each_field(self) -> None:
        assert [*signature(brew.run).parameters] == ["cups", "kind", "sugar"]

    def test_reach_the_command_as_an_object(self) -> None:
        run("brew", "--cups", "2", "--sugar", "3")
        assert seen == [(2, Tea("green", 3))]

    def test_keep_the_order_in_which_they_stand(self) -> None:
        def mixed(first: int = 0, *, where: StoreOptions, last: int = 1) -> None: ...

        names = [*signature(with_expanded_options(mixed)).parameters]
        assert names == ["first", "store", "username", "password", "database", "keep_warm", "last"]

    def test_bounds_of_a_field_hold(self) -> None:
        run("brew", "--sugar", "-1")
        assert seen == []


class TestSingleOptions:
    def test_reach_the_command_by_their_names(self) -> None:
        given = (
            "--cold",
            "--recipe-file",
            "r.txt",
            "--photo",
            "1.png",
            "--photo",
            "2.png",
            "--strength",
            "3",
        )
        run("serve", "Ada", *given)
        assert seen == [(True, Path("r.txt"), [Path("1.png"), Path("2.png")], 3, "Ada", Tea("black", 1))]

    def test_are_left_at_their_defaults(self) -> None:
        run("serve")
        assert seen == [(False, None, None, 2, "nobody", Tea("black", 1))]

    def test_that_are_flags_have_no_opposite(self) -> None:
        assert run("serve", "--no-cold").exit_code == 2

    def test_name_a_file_where_nothing_else_is_said(self) -> None:
        told = run("serve", "--help").output
        assert "--recipe-file FILE" in " ".join(told.split())
        assert "--photo PHOTO" in " ".join(told.split())

    def test_keep_their_bounds_where_they_are_shared(self) -> None:
        assert run("serve", "--strength", "0").exit_code == 2
        assert seen == []

    def test_that_are_required_are_asked_for(self) -> None:
        @command()
        def pour(*, cup: str = option(..., "Into which.")) -> None:
            """Pour."""

        app = group("pour", "Pour.", (pour, brew))
        assert "Missing option '--cup'" in CliRunner().invoke(app, ["pour"]).output


class TestCommands:
    def test_help_is_the_docstring_a_paragraph_a_line(self) -> None:
        assert brew.help == "Make tea.\n\nThe water is hot."
        assert "cook brew --kind black" in brew.examples

    def test_help_ends_at_a_form_feed(self) -> None:
        @command()
        def pour() -> None:
            """Pour.

            Into a cup.
            \f

            Raises:
                InputError: There is no cup.
            """

        assert pour.help == "Pour.\n\nInto a cup."

    def test_data_that_a_job_cannot_use_are_wrong_usage(self) -> None:
        for dropped, status in ((spill, 2), (drop, 1)):
            with pytest.raises(InputError) as raised:
                dropped.run()
            assert raised.value.status == status

    def test_that_are_stopped_before_they_say_what_they_keep_kept_nothing(self) -> None:
        stopped = run("wait")
        assert (stopped.exit_code, stopped.stderr) == (130, "stopped: nothing was changed\n")

    def test_stand_in_the_help_of_their_group_with_its_examples(self) -> None:
        told = run("--help").output
        assert "Cook." in told and "$ cook brew" in told
        assert [line.split()[1] for line in told.splitlines() if line.startswith("│ ")][-5:] == [
            *("brew", "serve", "spill", "drop", "wait")
        ]


class TestValuesByName:
    @pytest.mark.parametrize("given", ["most", "=3"])
    def test_what_has_no_name_is_refused(self, given: str) -> None:
        with pytest.raises(BadParameter, match="NAME=VALUE"):
            named_values([given], "--option")

    @pytest.mark.parametrize("given", ["tea=0", "tea=true", "tea=some"])
    def test_amounts_are_whole_numbers_from_one(self, given: str) -> None:
        with pytest.raises(BadParameter, match="must be a whole number of at least 1"):
            named_amounts([given], "--mix")

    def test_what_is_not_given_is_left_out(self) -> None:
        assert without_none(a=None, b=0) == {"b": 0}
