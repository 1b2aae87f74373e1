"""Which files are copies of one another, and which are variants of one model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.records.models import ModelFile


@dataclass(frozen=True, slots=True)
class Variants:
    """Files of one model: the same family, architecture and number of parameters; most bits per weight first."""

    family: str
    architecture: str
    parameters: int
    files: tuple[ModelFile, ...]


def copies(files: Iterable[ModelFile]) -> Mapping[str, tuple[ModelFile, ...]]:
    """By SHA-256, the files that hold the same bytes in several places of the disk; in the order given."""
    alike: dict[str, list[ModelFile]] = {}
    for file in files:
        if file.hash:
            alike.setdefault(file.hash, []).append(file)
    return {digest: tuple(same) for digest, same in alike.items() if len(same) > 1}


def wasted(files: Iterable[ModelFile]) -> int:
    """Bytes of all copies but one."""
    return sum(same[0].size * (len(same) - 1) for same in copies(files).values())


def variants(files: Iterable[ModelFile]) -> tuple[Variants, ...]:
    """The models that there are several different files of, by family. Copies count once."""
    groups: dict[tuple[str, str, int], dict[str, ModelFile]] = {}
    for file in files:
        if file.kind == "model" and not file.problem:
            group = groups.setdefault((file.family, file.architecture, file.parameters), {})
            group.setdefault(file.hash or file.path, file)
    return tuple(
        Variants(*key, tuple(sorted(group.values(), key=lambda file: -file.bits_per_weight)))
        for key, group in sorted(groups.items())
        if len(group) > 1
    )


def variants_of(file: ModelFile, files: Sequence[ModelFile]) -> tuple[ModelFile, ...]:
    """The other files of the same model, none that is a copy of ``file``."""
    key = (file.family, file.architecture, file.parameters)
    group = next((v.files for v in variants(files) if (v.family, v.architecture, v.parameters) == key), ())
    return tuple(f for f in group if f.path != file.path and (not f.hash or f.hash != file.hash))


def variants_words(file: ModelFile, files: Sequence[ModelFile]) -> str:
    """The variants by name, with their quantization where the name doesn't say it."""

    def words(other: ModelFile) -> str:
        said = not other.quantization or other.quantization.casefold() in other.name.casefold()
        return other.name if said else f"{other.name} ({other.quantization})"

    return ", ".join(map(words, variants_of(file, files)))
