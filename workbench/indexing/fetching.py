"""Fetches one model of fastembed's own catalogue: ``python -m workbench.indexing.fetching NAME FOLDER``.

Run as a child process, as fastembed is native, and with the network: this is the one place that lets it look for a
model. Prints, as JSON, the folder that it was put in, its model file, dimension and pooling.
"""

from __future__ import annotations

import json
import os
import sys
from typing import cast


def fetch(name: str, folder: str) -> dict[str, str | int]:
    """Raises ValueError for a name that the catalogue doesn't have, and whatever the download raises."""
    os.environ.pop("HF_HUB_OFFLINE", None)
    from fastembed import TextEmbedding
    from fastembed.text.onnx_embedding import OnnxTextEmbedding

    described = {model["model"].casefold(): model for model in TextEmbedding.list_supported_models()}
    found = described.get(name.casefold())
    if found is None:
        raise ValueError(f"{name} is not in the catalogue of {len(described)} models")
    model = cast(OnnxTextEmbedding, TextEmbedding(found["model"], cache_dir=folder).model)
    pooled = any("Pooled" in kind.__name__ for kind in type(model).__mro__)
    return {
        "folder": str(model._model_dir),
        "model_file": found["model_file"],
        "dimension": found["dim"],
        "pooling": "mean" if pooled else "cls",
    }


if __name__ == "__main__":
    try:
        print(json.dumps(fetch(*sys.argv[1:])))
    except Exception as error:  # noqa: BLE001 -- every library below has its own tree; the sentence goes to the parent
        print(error, file=sys.stderr)
        sys.exit(1)
