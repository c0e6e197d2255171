"""Tests of `command`, which makes a command of a function: options, flags, files and the help."""

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
    named_counts,
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
    """Options of `brew` and `serve`."""

    kind: Annotated[str, Option(help="Kind of tea.")] = "green"
    sugar: Annotated[int, Option(min=0, help="Lumps of sugar.")] = 0


@command("cook brew --kind black")
def brew(cups: Annotated[int, Option(help="Number of cups.")] = 1, *, tea: Tea) -> None:
    """Make tea.

    The water
    is hot.
    """
    seen.append((cups, tea))


@command("cook serve --no-milk")
def serve(
    *,
    cold: bool = option(False, "Serve it cold."),
    recipe_file: Path | None = option(None, "File with the recipe."),
    photo: list[Path] | None = option(None, "Pictures of the tea.", "PHOTO"),
    strength: Annotated[int, shared("Strength of the tea.", min=1)] = 2,
    guest: str = argument("nobody", "Name of the guest.", "GUEST"),
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
    def test_each_field_becomes_an_option(self) -> None:
        assert [*signature(brew.run).parameters] == ["cups", "kind", "sugar"]

    def test_the_command_receives_the_object(self) -> None:
        run("brew", "--cups", "2", "--sugar", "3")
        assert seen == [(2, Tea("green", 3))]

    def test_options_keep_the_order_of_the_parameters(self) -> None:
        def mixed(first: int = 0, *, where: StoreOptions, last: int = 1) -> None: ...

        names = [*signature(with_expanded_options(mixed)).parameters]
        assert names == ["first", "store", "username", "password", "database", "keep_warm", "last"]

    def test_bounds_of_a_field_are_checked(self) -> None:
        run("brew", "--sugar", "-1")
        assert seen == []


class TestSingleOptions:
    def test_the_command_receives_options_by_name(self) -> None:
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

    def test_missing_options_have_their_defaults(self) -> None:
        run("serve")
        assert seen == [(False, None, None, 2, "nobody", Tea("black", 1))]

    def test_flags_have_no_negated_form(self) -> None:
        assert run("serve", "--no-cold").exit_code == 2

    def test_the_value_of_a_path_is_called_file_by_default(self) -> None:
        told = run("serve", "--help").output
        assert "--recipe-file FILE" in " ".join(told.split())
        assert "--photo PHOTO" in " ".join(told.split())

    def test_bounds_of_shared_options_are_checked(self) -> None:
        assert run("serve", "--strength", "0").exit_code == 2
        assert seen == []

    def test_a_missing_required_option_is_an_error(self) -> None:
        @command()
        def pour(*, cup: str = option(..., "Cup to fill.")) -> None:
            """Pour."""

        app = group("pour", "Pour.", (pour, brew))
        assert "Missing option '--cup'" in CliRunner().invoke(app, ["pour"]).output


class TestCommands:
    def test_the_help_is_the_docstring_with_one_line_for_each_paragraph(self) -> None:
        assert brew.help == "Make tea.\n\nThe water is hot."
        assert "cook brew --kind black" in brew.examples

    def test_the_help_ends_at_a_form_feed(self) -> None:
        @command()
        def pour() -> None:
            """Pour.

            Into a cup.
            \f

            Raises:
                InputError: There is no cup.
            """

        assert pour.help == "Pour.\n\nInto a cup."

    def test_unusable_input_of_a_training_ends_with_2(self) -> None:
        for dropped, status in ((spill, 2), (drop, 1)):
            with pytest.raises(InputError) as raised:
                dropped.run()
            assert raised.value.status == status

    def test_ctrl_c_in_a_command_ends_with_130(self) -> None:
        stopped = run("wait")
        assert (stopped.exit_code, stopped.stderr) == (130, "stopped: nothing was changed\n")

    def test_the_help_of_a_group_lists_its_commands_and_examples(self) -> None:
        told = run("--help").output
        assert "Cook." in told and "$ cook brew" in told
        assert [line.split()[1] for line in told.splitlines() if line.startswith("│ ")][-5:] == [
            *("brew", "serve", "spill", "drop", "wait")
        ]


class TestValuesByName:
    @pytest.mark.parametrize("given", ["most", "=3"])
    def test_a_value_without_a_name_is_refused(self, given: str) -> None:
        with pytest.raises(BadParameter, match="NAME=VALUE"):
            named_values([given], "--option")

    @pytest.mark.parametrize("given", ["tea=0", "tea=true", "tea=some"])
    def test_amounts_are_whole_numbers_from_one(self, given: str) -> None:
        with pytest.raises(BadParameter, match="must be a whole number of at least 1"):
            named_counts([given], "--mix")

    def test_without_none_omits_missing_values(self) -> None:
        assert without_none(a=None, b=0) == {"b": 0}
