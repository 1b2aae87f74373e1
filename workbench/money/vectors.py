"""Memory of vectors: M = N · d · b."""

from __future__ import annotations

from typing import Final, Literal

from workbench.errors import UsageError
from workbench.i18n import tr

Component = Literal["float32", "float16", "int8", "bit"]

COMPONENT_BYTES: Final[dict[Component, float]] = {"float32": 4.0, "float16": 2.0, "int8": 1.0, "bit": 0.125}


def vector_bytes(count: int, dimension: int, component: Component = "float32", replicas: int = 1) -> float:
    """Bytes of ``count`` vectors alone: no graph, no payload, no copies beyond ``replicas``.

    Raises:
        UsageError: a negative count, a dimension or number of replicas below 1.
    """
    if count < 0 or dimension < 1 or replicas < 1:
        raise UsageError(
            tr("No such vectors"),
            tr(
                "{count} vectors of {dimension} dimensions, {replicas} times.",
                count=count,
                dimension=dimension,
                replicas=replicas,
            ),
            tr("Give whole numbers of at least 1."),
        )
    return count * dimension * COMPONENT_BYTES[component] * replicas
