"""Tests of ``graphneg doctor``: its report, missing requirements, and secrets that it must not print."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import graphneg
from graphneg.cli.doctor import EXTRAS, FAULT, missing_parts
from graphneg.store.embedded import is_served
from tests.cli_runs import Run

ROOT = Path(__file__).parents[2]


def test_reports_versions_extras_models_java_and_the_store(run: Run, everyday: Path) -> None:
    ended = run("doctor", "--json", "--store", everyday)
    assert ended.status == 0, ended.out
    found = json.loads(ended.out)
    assert found["System"]["graphneg"] == graphneg.__version__
    assert found["Packages"]["neo4j"].startswith("6.")
    assert {f"[{extra}]" for extra in EXTRAS} < set(found["Packages"])
    assert "core" in found["Models"]["English parser"]
    assert "version" in found["Java"]["Java"]
    assert found["Store"]["server"] == "runs" and is_served(everyday)
    assert found["Store"]["written by"].startswith("arcadedb 2")


def test_the_text_report_has_a_heading_for_each_section(run: Run, everyday: Path) -> None:
    lines = run("doctor", "--store", everyday).out.splitlines()
    assert lines[0] == "System" and lines[1].split() == ["graphneg", graphneg.__version__]
    assert all(line.startswith("  ") or line[0].isupper() for line in lines)


def test_prints_no_password_address_or_home_directory(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NEO4J_PASSWORD", "s3cr3t")
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:1")
    ended = run("doctor")
    assert ended.status == 1
    assert f"{FAULT}the store does not answer" in " ".join(ended.out.split())
    for secret in ("s3cr3t", "127.0.0.1", str(tmp_path)):
        assert secret not in ended.out
    monkeypatch.delenv("NEO4J_URI")
    ended = run("doctor", "--store", tmp_path / "none")
    assert ended.status == 0 and "~/none, which does not exist yet" in ended.out
    assert not (tmp_path / "none").exists()


def test_a_missing_java_is_a_fault(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHNEG_JAVA", "/nowhere/java")
    ended = run("doctor")
    assert ended.status == 1
    assert f"{FAULT}GRAPHNEG_JAVA=/nowhere/java" in ended.out


def test_missing_and_outdated_packages_are_named() -> None:
    assert missing_parts(Requirement("rich>=13")) == ""
    assert missing_parts(Requirement("no-such-package>=1")) == "no-such-package"
    assert missing_parts(Requirement("rich>=999")).startswith("rich>=999 (1")


def test_every_extra_for_users_has_a_description() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(EXTRAS) == set(project["optional-dependencies"]) - {"dev", "docs", "notebooks"}
