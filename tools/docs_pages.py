"""Generate the pages of the documentation site that describe the code itself.

mkdocs calls `on_files` when it builds the site. The input is the commands of ``graphneg.cli``, the generators
that ship with graphneg, the headers of ``cypher/explore/``, and the packages in `API`. The output is
``commands.md``, ``generator_options.md``, ``queries.md``, ``reasons.md``, ``sizes.md`` and
``api/PACKAGE.md``.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.docstrings import attributes, markdown

ROOT = Path(__file__).parent.parent
QUERIES = ROOT / "docs" / "data" / "queries.txt"
API = (
    "graphneg",
    "graphneg.model",
    "graphneg.store",
    "graphneg.records",
    "graphneg.ingest",
    "graphneg.amr",
    "graphneg.editing",
    "graphneg.decoders",
    "graphneg.parsers",
    "graphneg.shift",
    "graphneg.generators",
    "graphneg.datasets",
    "graphneg.rankers",
    "graphneg.scorers",
    "graphneg.training",
    "graphneg.evaluation",
    "graphneg.nn",
)
"""Packages of the API reference."""
STORE = ("store", "username", "password", "database", "keep_warm")
"""Options that nearly all commands have, which docs/cli.md describes once."""
MARKUP = re.compile(r"\[/?(?:bold|dim|italic|cyan|green|yellow|red)?\]")
"""Pattern for style tags in help texts, such as ``[bold]``."""


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages to the pages in ``docs/``. This function is a hook of mkdocs.

    Args:
        files: The files of the site.
        config: The configuration of mkdocs.

    Returns:
        The files of the site, including the generated pages.
    """
    from mkdocs.structure.files import File

    for name, text in pages().items():
        files.append(File.generated(config, name, content=text))
    return files


def pages() -> Mapping[str, str]:
    """Return the texts of all generated pages, keyed by file name."""
    api = {f"api/{name}.md": api_page(name) for name in API}
    return {
        "commands.md": commands_page(),
        "generator_options.md": generator_options_page(),
        "queries.md": queries_page(),
        "reasons.md": reasons_page(),
        "sizes.md": sizes_page(),
        **api,
    }


def api_page(package: str) -> str:
    """Return the reference page of a package, which mkdocstrings fills in.

    Args:
        package: Full name of the package.

    Returns:
        Markdown with the exports of the package. A package without ``__all__`` gets a section for each
        module.
    """
    parts = [f"# {package}", f"::: {package}"]
    module = importlib.import_module(package)
    if hasattr(module, "__path__") and not getattr(module, "__all__", ()):
        names = sorted(one.name for one in pkgutil.iter_modules(module.__path__) if not one.ispkg)
        for name in names:
            parts += [f"## {name}", f"::: {package}.{name}\n    options:\n      heading_level: 3"]
    return "\n\n".join(parts) + "\n"


def commands_page() -> str:
    """Return the page of all commands with their options, as ``--help`` shows them."""
    import typer

    from graphneg.cli.program import app

    found = list(_commands_below(typer.main.get_command(app), "graphneg"))
    return "\n".join(
        [
            "# Commands",
            "",
            "The options of each command, as `graphneg COMMAND --help` prints them.",
            "",
            *map(_command_text, found),
        ]
    )


def generator_options_page() -> str:
    """Return the page of the options of each generator, with their defaults and descriptions."""
    from graphneg.generators.base import PLUGINS

    parts = [
        "# Generator options\n",
        "Give these options as `--option NAME=VALUE`, or as arguments of `graph.generate`.\n",
    ]
    parts += [_options_text(name, PLUGINS.find(name)) for name in PLUGINS.names()]
    shared = [_options_text(*one) for one in _shared_options()]
    return "\n".join([*parts, *shared])


def queries_page() -> str:
    """Return the page of the named queries, with their parameters, columns and examples."""
    from graphneg.store.queries import named_query

    def documented(match: re.Match[str]) -> str:
        query = named_query(match[1])
        parameters = [
            f"- `{one.name}`{_default_in_parentheses(one)}: {one.meaning}" for one in query.parameters
        ]
        columns = f"Columns: {query.columns}."
        return "\n".join(
            [match[0], "", query.summary, "", *parameters, *([""] if parameters else []), columns]
        )

    text = re.sub(r"^### (\w+)$", documented, QUERIES.read_text(encoding="utf-8"), flags=re.M)
    return (
        "# Named queries\n\nRun a query with `graphneg cypher --named NAME` or `graph.explore(NAME)`. Its "
        "file is `cypher/explore/NAME.cypher`. The examples come from small corpora, such as `kitchen` and "
        "`travel`. A *topic* is a keyword at either end of a shift. A *pair* is a post with its reply.\n\n"
        + text
    )


def reasons_page() -> str:
    """Return the page of the reasons for missing negatives, from ``graphneg/records/reasons.tsv``."""
    from graphneg.records.summary import reasons

    rows = [f"| `{code}` | {source} | {meaning} |" for code, source, meaning in reasons()]
    head = ["| code | from | why a negative is missing or a record is dropped |", "|---|---|---|"]
    return "\n".join(
        ["# Reasons", "", "`graphneg negatives --reasons` prints this table.", "", *head, *rows, ""]
    )


def sizes_page() -> str:
    """Return the page of the code's sizes, which ``make sizes`` prints as well."""
    from tools.sizes import figures, shown

    rows = [f"| {name} | {shown(value)} |" for name, value in figures().items()]
    return "\n".join(["# Sizes", "", "| measure | value |", "|---|---:|", *rows, ""])


def _default_in_parentheses(parameter: Any) -> str:
    """Return the default of a query's parameter in parentheses, or ``""`` for a required parameter."""
    if parameter.required:
        return ""
    return " (optional)" if parameter.default is None else f" ({parameter.default})"


def _shared_options() -> Iterator[tuple[str, Any]]:
    """Yield the title of each further section, and the dataclass whose options the section describes."""
    from graphneg.generators.counterfactual import CounterfactualOptions
    from graphneg.generators.infilling.generator import MaskAndFillOptions
    from graphneg.generators.keywords.generator import KeywordOptions
    from graphneg.generators.overlap import OverlapOptions
    from graphneg.generators.pneg import PnegOptions

    yield "Conditions of overlap and hard", OverlapOptions
    yield "Options of key-context, key-sem and key-sentence", KeywordOptions
    yield "Options of counterfactual", CounterfactualOptions
    yield "Options of pneg", PnegOptions
    yield "Options of mask-and-fill", MaskAndFillOptions


def _options_text(title: str, factory: Any) -> str:
    """Return a section with the summary of a class or function and a table of its options."""
    skipped = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    taken = [one for one in inspect.signature(factory).parameters.values() if one.kind not in skipped]
    options = [one for one in taken if one.name != "store"]
    text = markdown(_without_sections(inspect.getdoc(factory) or ""))
    return "\n".join([f"## {title}", "", text, "", *_options_table(options, _descriptions(factory))])


def _descriptions(factory: Any) -> Mapping[str, str]:
    """Return the descriptions of options, keyed by name, including those of base classes."""
    classes = inspect.getmro(factory) if inspect.isclass(factory) else (factory,)
    found: dict[str, str] = {}
    for one in reversed(classes):
        # `getdoc` would return the docstring of a base class for a class without one.
        found |= attributes(inspect.cleandoc(one.__doc__ or ""))
    return {name: markdown(text) for name, text in found.items()}


def _options_table(options: Sequence[inspect.Parameter], meanings: Mapping[str, str]) -> list[str]:
    """Return the lines of a table of options, or of a list of defaults if no option is described."""
    if not options:
        return []
    if not any(one.name in meanings for one in options):
        # The docstring describes these options in running text, so there are no descriptions for the cells of
        # a table. List the defaults only.
        defaults = ", ".join(f"`{one.name}`: {_default_text(one.default)}" for one in options)
        return [f"Defaults: {defaults}.", ""]
    rows = [
        (f"`{one.name}`", _default_text(one.default), meanings.get(one.name, "").replace("|", "\\|"))
        for one in options
    ]
    return ["| option | default | |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows), ""]


def _default_text(value: Any) -> str:
    if value is inspect.Parameter.empty:
        return "required"
    if isinstance(value, tuple | frozenset | list) and len(value) > 8:
        return f"{len(value)} words"
    if isinstance(value, float):
        return f"{value:.3g}"
    return "none" if value is None or value == () else str(value)


def _without_sections(docstring: str) -> str:
    """Return a docstring up to its first section."""
    return re.split(
        r"^(?:Args|Attributes|Returns|Yields|Raises|Examples?):$", docstring, maxsplit=1, flags=re.M
    )[0].strip()


def _commands_below(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the commands of a group, each with its full name."""
    inside = getattr(command, "commands", None)
    if inside is None:
        yield name, command
        return
    for part, under in inside.items():
        yield from _commands_below(under, f"{name} {part}")


def _command_text(named: tuple[str, Any]) -> str:
    """Return the section of a command: usage, options and examples."""
    name, command = named
    usage = [name, *(_argument(one) for one in command.params if not _is_option(one))]
    rows = [
        _row(one) for one in command.params if one.name not in STORE and not getattr(one, "hidden", False)
    ]
    if any(one.name in STORE for one in command.params):
        rows.append("| `--store` ... |  | [which store](cli.md#the-store) |")
    table = ["| option | default | |", "|---|---|---|", *rows, ""] if rows else []
    epilog = _plain(command.epilog or "").splitlines()
    examples = [line.removeprefix("$ ") for line in epilog if line.startswith("$ ")]
    shown = ["```bash", *examples, "```", ""] if examples else []
    usage_lines = ["```text", f"{' '.join(usage)} [OPTIONS]", "```", ""]
    return "\n".join([f"## {name}", "", _plain(command.help or ""), "", *usage_lines, *table, *shown])


def _is_option(parameter: Any) -> bool:
    return parameter.opts[0].startswith("-")


def _argument(parameter: Any) -> str:
    name = parameter.metavar or parameter.name.upper()
    return f"{name}..." if parameter.nargs == -1 and not name.endswith("...") else name


def _row(parameter: Any) -> str:
    names = [*parameter.opts, *parameter.secondary_opts] if _is_option(parameter) else [_argument(parameter)]
    value = _placeholder(parameter) if _is_option(parameter) else ""
    shown = ", ".join(f"`{name}`" for name in names) + (f" `{value}`" if value else "")
    text = _plain(parameter.help or "").replace("|", "\\|").replace("\n", " ")
    return f"| {shown} | {_default_value(parameter.default)} | {text} |"


def _default_value(default: Any) -> str:
    if default is None or default is False or default in ((), []) or callable(default):
        return ""
    return f"`{default.value if isinstance(default, enum.Enum) else default}`"


def _placeholder(parameter: Any) -> str:
    """Return the placeholder of an option's value: ``FILE``, or the words to choose from."""
    if getattr(parameter, "is_flag", False):
        return ""
    if parameter.metavar:
        return parameter.metavar.replace("|", "\\|")
    kind = parameter.type_descriptor.annotation
    if inspect.isclass(kind) and issubclass(kind, enum.Enum):
        return "\\|".join(str(one.value) for one in kind)
    return {int: "N", float: "NUMBER", bool: ""}.get(kind, "TEXT")


def _plain(text: str) -> str:
    return MARKUP.sub("", text)
