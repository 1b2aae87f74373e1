"""Where other tools keep model files, and what they call them.

Ollama: ``manifests/HOST/NAMESPACE/MODEL/TAG`` are JSON and list blobs by digest. LM Studio:
``PUBLISHER/REPOSITORY/FILE``, in the folder that its ``settings.json`` names. The Hugging Face cache:
``models--ORGANISATION--NAME/snapshots/REVISION/FILE``, links to ``blobs/DIGEST``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from workbench.records.models import Keeper, Place

DIGEST: Final = re.compile(r"sha256[:-]([0-9a-f]{64})")
LAYER: Final = "application/vnd.ollama.image."
LONGEST_MANIFEST: Final = 1 << 20
DEFAULT_HOST, DEFAULT_NAMESPACE = "registry.ollama.ai", "library"


@dataclass(frozen=True, slots=True)
class Found:
    """A GGUF file where its keeper has it; ``hash`` is the SHA-256 that its name claims, "" when it claims none."""

    place: Place
    hash: str = ""


def in_folder(root: Path) -> Iterator[Found]:
    """GGUF files in and under a folder of the person's own."""
    for path in _gguf_files(root):
        yield Found(Place("folder", str(path)))


def in_ollama(root: Path) -> Iterator[Found]:
    """The models and adapters that Ollama's manifests name; those whose blob is missing too."""
    for manifest in _files(root / "manifests"):
        for kind, digest in read_manifest(manifest):
            if kind in ("model", "adapter"):
                blob = root / "blobs" / f"sha256-{digest}"
                yield Found(Place("ollama", str(blob), _ollama_name(root, manifest), str(manifest)), digest)


def read_manifest(path: Path) -> tuple[tuple[str, str], ...]:
    """Kind ("model", "template", "params", …) and SHA-256 of each layer; none when it is no manifest."""
    try:
        if path.stat().st_size > LONGEST_MANIFEST:
            return ()
        layers = json.loads(path.read_text("utf-8"))["layers"]
        named = [(str(layer["mediaType"]), DIGEST.fullmatch(str(layer["digest"]))) for layer in layers]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ()
    return tuple(
        (media.removeprefix(LAYER), digest[1]) for media, digest in named if digest and media.startswith(LAYER)
    )


def _ollama_name(root: Path, manifest: Path) -> str:
    """As ``ollama list`` writes it: "smollm2:135m", "somebody/model:tag", "host/somebody/model:tag"."""
    *path, tag = manifest.relative_to(root / "manifests").parts
    if path[:1] == [DEFAULT_HOST]:
        path = path[1:]
        if path[:1] == [DEFAULT_NAMESPACE]:
            path = path[1:]
    return f"{'/'.join(path)}:{tag}"


def in_lm_studio(root: Path) -> Iterator[Found]:
    """GGUF files that LM Studio downloaded."""
    for path in _gguf_files(root):
        yield Found(Place("lmstudio", str(path), "/".join(path.relative_to(root).parts[:-1][:2])))


def lm_studio_folders(home: Path) -> list[Path]:
    """Where LM Studio keeps models: in the folder chosen in its settings, in its own, and in that of old versions.

    Its own is ``~/.lmstudio``, or what ``~/.lmstudio-home-pointer`` names.
    """
    own = [home / ".lmstudio", home / ".cache/lm-studio"]
    with suppress(OSError, UnicodeError):
        if pointed := (home / ".lmstudio-home-pointer").read_text("utf-8-sig").strip():
            own.insert(0, Path(pointed))
    folders = [folder for root in own for folder in (*_chosen_folder(root), root / "models")]
    return list(dict.fromkeys(Path(os.path.realpath(folder)) for folder in folders))


def _chosen_folder(root: Path) -> list[Path]:
    try:
        settings = json.loads((root / "settings.json").read_text("utf-8-sig"))  # it may begin with a byte order mark
        chosen = Path(settings["downloadsFolder"]).expanduser()
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, RecursionError):
        return []
    return [chosen] if chosen.is_absolute() else []


def in_hugging_face(root: Path) -> Iterator[Found]:
    """GGUF files in the snapshots of the Hugging Face cache."""
    repositories: list[Path] = []
    with suppress(OSError):  # as in ``_files``
        repositories = sorted(path for path in root.iterdir() if path.name.startswith("models--"))
    for repository in repositories:
        name = "/".join(repository.name.split("--")[1:])
        for path in _gguf_files(repository / "snapshots"):
            blob = path.resolve().name
            yield Found(Place("huggingface", str(path), name), blob if re.fullmatch("[0-9a-f]{64}", blob) else "")


def all_kept(environment: Mapping[str, str] | None = None, home: Path | None = None) -> Iterator[Found]:
    """Everything that other tools keep on this machine, as their environment variables say or where they put it."""
    environment, home = os.environ if environment is None else environment, home or Path.home()
    ollama = environment.get("OLLAMA_MODELS")
    for root in [Path(ollama)] if ollama else [home / ".ollama/models", Path("/usr/share/ollama/.ollama/models")]:
        yield from in_ollama(root)
    for root in lm_studio_folders(home):
        yield from in_lm_studio(root)
    cache = environment.get("HF_HOME") or Path(environment.get("XDG_CACHE_HOME") or home / ".cache", "huggingface")
    yield from in_hugging_face(Path(environment.get("HF_HUB_CACHE") or Path(cache, "hub")))


KEEPER_NAMES: Final[dict[Keeper, str]] = {
    "folder": "",
    "ollama": "Ollama",
    "lmstudio": "LM Studio",
    "huggingface": "Hugging Face",
}


def _gguf_files(folder: Path) -> Iterator[Path]:
    return (path for path in _files(folder) if path.name.lower().endswith(".gguf"))


def _files(folder: Path) -> Iterator[Path]:
    """All in and under a folder, in order; a folder that may not be read holds none, as a service's often may not.

    Links to folders are followed, each folder once, but not to one that ``folder`` itself lies in.
    """
    root, seen = Path(os.path.realpath(folder)), set[str]()
    for parent, below, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(parent)
        if real in seen or Path(real) in root.parents:
            below.clear()
            continue
        seen.add(real)
        below.sort()
        yield from (Path(parent, name) for name in sorted(names))
