"""Test that graphneg imports libraries without the optional dependencies that it does not need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import graphneg
from graphneg.english.pipelines import find_pipeline
from graphneg.imports import unavailable

PIPELINE = find_pipeline(None, "en")
LOADED = f"""
import sys
from pathlib import Path
from graphneg.english.pipelines import load_pipeline
from graphneg.imports import mark_own_process
if %s:
    mark_own_process()
language = load_pipeline({PIPELINE!r}, [])
print([token.tag_ for token in language("The dogs are here.")], "torch" in sys.modules)
import torch
"""


@pytest.mark.skipif(PIPELINE is None, reason="no English spaCy pipeline is installed")
@pytest.mark.parametrize("is_own", [True, False], ids=["own process", "user's process"])
def test_only_processes_of_graphneg_import_spacy_without_torch(is_own: bool) -> None:
    pytest.importorskip("torch")
    ended = subprocess.run(
        [sys.executable, "-c", LOADED % is_own], capture_output=True, text=True, check=True
    )
    assert ended.stdout == f"['DT', 'NNS', 'VBP', 'RB', '.'] {not is_own}\n"


def test_a_package_is_unavailable_only_during_the_block() -> None:
    sys.modules.pop("colorsys", None)
    with unavailable("colorsys", "pytest"):
        with pytest.raises(ModuleNotFoundError):
            import colorsys
        import pytest as same  # It was imported before.

        assert same is pytest
    import colorsys

    assert colorsys.rgb_to_hsv(0, 0, 0) == (0, 0, 0)


SUPERVISOR = """
import runpy, sys
sys.path.insert(0, sys.argv[1])
before = set(sys.modules)
runpy.run_path(sys.argv[1] + "/graphneg/store/supervisor.py")
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before} - sys.stdlib_module_names))
"""


def test_the_supervisor_of_a_server_imports_no_library() -> None:
    folder = str(Path(graphneg.__file__).parents[1])
    command = [sys.executable, "-I", "-c", SUPERVISOR, folder]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout == "graphneg\n"
