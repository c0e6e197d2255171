"""Import libraries without the optional dependencies that graphneg does not need.

If PyTorch is installed, spaCy imports it, although the pipelines that graphneg loads compute with NumPy. This
takes three seconds in every command and in every worker process. In the same way, the Neo4j driver imports
pandas if it is installed. This module therefore lets the import of such a dependency fail, as if it were not
installed. After that, spaCy cannot use PyTorch until the process ends. A program that calls graphneg's Python
API may need spaCy with PyTorch, so spaCy is imported without PyTorch only in processes that graphneg starts
itself::

    mark_own_process()           # at the start of a command or a worker process
    spacy = import_spacy()  # does not import torch
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import ModuleType

_is_own_process = False


def mark_own_process() -> None:
    """Declare that graphneg has started this process, which lets `import_spacy` leave out PyTorch.

    Code of other programs, which could need spaCy with PyTorch, does not run in such a process.
    """
    global _is_own_process
    _is_own_process = True


@contextmanager
def unavailable(*names: str) -> Generator[None]:
    """Let the import of some packages fail during the block, as if they were not installed.

    Packages that are already imported stay available.

    Args:
        names: Names of top-level packages.

    Yields:
        Nothing.
    """
    hidden = [name for name in names if name not in sys.modules]
    # If the value for a name in `sys.modules` is None, an import of this name raises ModuleNotFoundError.
    sys.modules.update(dict.fromkeys(hidden))  # pyright: ignore[reportArgumentType, reportCallIssue]
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


def import_spacy(*, with_torch: bool = False) -> ModuleType:
    """Import spaCy; in processes that graphneg starts itself, import it without PyTorch.

    Args:
        with_torch: Whether the pipeline to be loaded needs PyTorch, as transformer pipelines do.

    Returns:
        The module ``spacy``.
    """
    hidden = ("torch",) if _is_own_process and not with_torch and "thinc" not in sys.modules else ()
    with unavailable(*hidden):
        import spacy
    return spacy
