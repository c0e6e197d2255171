"""Define the command ``doctor``, which reports what is installed, for users and for bug reports.

The report covers the system, the required packages, the packages that are missing for each extra (such as
``graphneg[neural]``), plugins from other packages, models, Java and the store. The report must be safe to
publish, so it contains no passwords and no server addresses, and the home directory is written as ``~``.

Example::

    $ graphneg doctor
    System
      graphneg             0.1.0
      Python               3.11.7 (CPython)
    ...
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, distributions, entry_points, requires, version
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from graphneg.cli.commands import command
from graphneg.cli.options import Json, StoreOptions
from graphneg.cli.tables import print_json
from graphneg.cli.terminal import messages, visible
from graphneg.errors import GraphnegError, first_line
from graphneg.paths import expand_home

if TYPE_CHECKING:
    from packaging.requirements import Requirement

Findings = dict[str, str]
FAULT = "!! "
"""Prefix of a finding that prevents graphneg from working. After such a finding, `doctor` exits with status
1."""
EXTRAS = {
    "neural": "the decoder t5, amrlib's parsers, language models, training",
    "english": "graphneg parse for English",
    "keywords": "the shift graph's keywords by YAKE",
    "exploring": "pages of the shift graph and of negatives",
    "evaluation": "Smatch, BLEU, the agreement of annotators",
    "retrieval": "the generators bm25 and semi-hard",
    "vectors": "search for the nearest of many vectors, by FAISS",
    "pages": "graphneg serve: judging and exploring in a browser",
    "ray": "pipelines on a Ray cluster",
    "served": "language models behind an OpenAI-like server",
    "conceptnet": "ConceptNet from its database",
}
"""The extras (sets of optional packages), with the features that need them.

Extras for developers of graphneg are left out.
"""
SETTINGS = (
    *(
        "GRAPHNEG_JAVA",
        "GRAPHNEG_JAVA_HEAP",
        "NEO4J_URI",
        "NEO4J_USERNAME",
        "NEO4J_PASSWORD",
        "NEO4J_DATABASE",
        "NEO4J_READER_USERNAME",
        "NEO4J_READER_PASSWORD",
    ),
    *("CI", "HF_HOME", "HF_HUB_OFFLINE", "CUDA_VISIBLE_DEVICES"),
)
"""Environment variables that are reported if they are set."""
SHOWN = {"GRAPHNEG_JAVA_HEAP", "HF_HUB_OFFLINE", "CUDA_VISIBLE_DEVICES", "CI"}
"""Environment variables whose values are reported. Of other variables, only the names are reported, because
their values may be secrets or paths."""
MOST_MODELS = 12
"""Maximum number of downloaded models that are listed."""
JAVA_SECONDS = 20
"""Maximum number of seconds to wait for ``java -version``."""


@command("graphneg doctor", "graphneg doctor --json > report.json")
def doctor(*, json: Json = False, where: StoreOptions) -> None:
    """Show what is installed, and what is missing for which feature.

    You can add the output to a bug report: it contains no passwords or server addresses, and not the path of
    your home directory. Nothing is changed, and no server is started. The exit status is 1 if something is
    missing without which graphneg cannot work at all.
    \N{FORM FEED}

    Raises:
        Exit: Something is missing without which graphneg cannot work at all.
    """
    found: dict[str, Findings] = {}
    with messages().status("collecting information"):
        for title, look in SECTIONS.items():
            found[title] = {name: visible(_hide_home_directory(text)) for name, text in look(where)}
    if json:
        print_json(found, indent=2)
    else:
        width = max(len(name) for findings in found.values() for name in findings)
        for title, findings in found.items():
            typer.echo(title if findings else f"{title}: none")
            for name, text in findings.items():
                typer.echo(f"  {name:{width}}  {text}".rstrip())
    if any(text.startswith(FAULT) for findings in found.values() for text in findings.values()):
        raise typer.Exit(1)


def _system(_: StoreOptions) -> Iterator[tuple[str, str]]:
    yield "graphneg", version("graphneg")
    yield "Python", f"{platform.python_version()} ({platform.python_implementation()})"
    yield "system", f"{platform.system()} {platform.release()} {platform.machine()}"
    yield "cores", str(os.cpu_count())
    yield "terminal", f"{sys.stdout.encoding}, {'a terminal' if sys.stderr.isatty() else 'no terminal'}"
    for name in SETTINGS:
        if name in os.environ:
            # Show the value of an environment variable only if it is harmless. Others could be passwords or
            # contain the user's name.
            yield name, os.environ[name] if name in SHOWN else "is set"


def _packages(_: StoreOptions) -> Iterator[tuple[str, str]]:
    """Yield the name and version of each required package, and the missing packages of each extra."""
    needed = _requirements()
    for name, lacks in ((each.name, missing_parts(each)) for each in needed.get("", ())):
        yield name, f"{FAULT}{lacks}: pip install --upgrade graphneg" if lacks else version(name)
    for extra, use in EXTRAS.items():
        missing = [lacks for each in needed.get(extra, ()) if (lacks := missing_parts(each))]
        have = ", ".join(
            f"{each.name} {version(each.name)}" for each in needed.get(extra, ()) if not missing_parts(each)
        )
        install = f'pip install "graphneg[{extra}]"'
        yield f"[{extra}]", f"missing for {use}: {', '.join(missing)}; {install}" if missing else have


def _requirements() -> dict[str, list[Requirement]]:
    """Return the packages that graphneg needs on this system, keyed by extra ("" for required packages)."""
    from packaging.requirements import Requirement

    found: dict[str, list[Requirement]] = {}
    for each in map(Requirement, requires("graphneg") or ()):
        marker = each.marker
        extras = [extra for extra in EXTRAS if marker and marker.evaluate({"extra": extra})]
        for extra in extras if marker else [""]:
            found.setdefault(extra, []).append(each)
    return found


def missing_parts(needed: Requirement) -> str:
    """Describe what is missing for a requirement.

    Args:
        needed: A package, with the versions that graphneg accepts.

    Returns:
        An empty string if the requirement is satisfied. The name of the package if it is not installed. The
        requirement and the installed version if the installed version does not satisfy the requirement.
    """
    try:
        installed = version(needed.name)
    except PackageNotFoundError:
        return needed.name
    return (
        ""
        if needed.specifier.contains(installed, prereleases=True)
        else f"{needed} ({installed} is installed)"
    )


def _plugins(_: StoreOptions) -> Iterator[tuple[str, str]]:
    """Yield the names of the loaders, parsers, decoders and other plugins that other packages provide."""
    for kind in ("loaders", "parsers", "decoders", "generators", "predictors"):
        others = [
            each for each in entry_points(group=f"graphneg.{kind}") if not each.value.startswith("graphneg.")
        ]
        if others:
            yield kind, ", ".join(f"{each.name} ({each.dist.name if each.dist else '?'})" for each in others)


def _models(_: StoreOptions) -> Iterator[tuple[str, str]]:
    from graphneg.english.pipelines import find_pipeline

    name = find_pipeline(None, "en")
    yield "English parser", name or 'none: pip install "graphneg[english]"'
    pipelines = {
        one.name for one in distributions() if re.fullmatch(r"[a-z]{2}[-_](core|dep)[-_].*", one.name or "")
    }
    yield "spaCy", ", ".join(sorted(pipelines)) or "none"
    # List the downloaded models by their folders in the cache of Hugging Face, such as
    # models--facebook--bart-base.
    hub = Path(os.environ.get("HF_HOME") or os.path.expanduser("~/.cache/huggingface")) / "hub"
    cached = sorted(
        folder.name.removeprefix("models--").replace("--", "/") for folder in hub.glob("models--*")
    )
    more = f" and {len(cached) - MOST_MODELS} more" if len(cached) > MOST_MODELS else ""
    yield "downloaded", (", ".join(cached[:MOST_MODELS]) or "none") + more
    try:
        from graphneg.nn.models import choose_device

        yield "device", choose_device(None)
    except ImportError:
        yield "device", "torch is not installed"


def _java(_: StoreOptions) -> Iterator[tuple[str, str]]:
    from graphneg.store.embedded import find_engine
    from graphneg.workers import child_environment

    try:
        engine = find_engine()
        yield "ArcadeDB", f"{engine['version']}, heap {engine['heap']}"
        order = [engine["java"], "-version"]
        answer = subprocess.run(
            order, capture_output=True, text=True, timeout=JAVA_SECONDS, check=True, env=child_environment()
        )
        output = (answer.stderr + answer.stdout).splitlines()
        # Skip lines such as "NOTE: Picked up JDK_JAVA_OPTIONS: …", which precede the version.
        version_lines = [line for line in output if not line.startswith("NOTE:")]
        yield "Java", f"{version_lines[0]}, {engine['java']}"
    except (GraphnegError, OSError, ValueError, IndexError, subprocess.SubprocessError) as error:
        yield "Java", FAULT + first_line(error)


def _store(where: StoreOptions) -> Iterator[tuple[str, str]]:
    """Yield report lines about the store that commands would use, and about running embedded servers."""
    from graphneg.store import embedded, opening
    from graphneg.store.engine_files import files_below

    try:
        if "://" in where.name:
            auth = opening.credentials(where.username, where.password)
            yield "server", f"{where.name.partition('://')[0]}: {opening.name_of_server(where.name, auth)}"
        else:
            directory = expand_home(where.name)
            yield "directory", f"{directory}{'' if directory.exists() else ', which does not exist yet'}"
            # Only a directory with this file is a store. Report no details of any other directory.
            if os.path.lexists(directory / embedded.STORE_FILE):
                mark = embedded.read_mark(directory)
                size = sum(status.st_size for _, status in files_below(directory))
                yield (
                    "written by",
                    f"{mark.get('engine')} {mark.get('engine_version')}, format {mark.get('format')}",
                )
                yield (
                    "size",
                    f"{size / 1e6:,.0f} MB, {shutil.disk_usage(directory).free / 1e9:,.1f} GB are free",
                )
                yield "server", "runs" if embedded.is_served(directory) else "does not run"
    except (GraphnegError, OSError, ValueError) as error:
        yield (
            "fault",
            FAULT
            # The error message may contain the address of the server. Replace this address, because the
            # report must not contain it.
            + first_line(error).replace(where.store or os.environ.get("NEO4J_URI") or "\0", "the store"),
        )
    others = [directory.name for directory in embedded.served_directories()]
    yield "embedded servers", f"{len(others)} of this user: {', '.join(others)}" if others else "none"


def _hide_home_directory(text: str) -> str:
    # If the home directory is not known, `os.path.expanduser` returns "~", while `Path.home` would fail.
    home = os.path.expanduser("~")
    return text.replace(home, "~") if len(home) > 1 else text


SECTIONS: dict[str, Callable[[StoreOptions], Iterable[tuple[str, str]]]] = {
    "System": _system,
    "Packages": _packages,
    "Plugins of other packages": _plugins,
    "Models": _models,
    "Java": _java,
    "Store": _store,
}
"""The titles of the report's sections, with the functions that collect their findings."""
