"""Where models and settings live, and the environment that keeps every library off the network."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

STARTER_EMBEDDER = "multilingual-e5-small"
USE_EMBEDDER = "use-multilingual-v3"
STARTER_MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"


def models_folder() -> Path:
    """``WORKBENCH_MODELS`` when set, else the XDG data folder's ``workbench/models``; it may not exist yet."""
    named = os.environ.get("WORKBENCH_MODELS")
    return Path(named) if named else Path(platformdirs.user_data_dir("workbench")) / "models"


def gguf_folder() -> Path:
    """Language models."""
    return models_folder() / "gguf"


def embedders_folder() -> Path:
    """One folder per embedder: ONNX, tokenizer, and ``embedder.json`` that describes it."""
    return models_folder() / "embedders"


def rerankers_folder() -> Path:
    """One folder per cross-encoder: ONNX and tokenizer."""
    return models_folder() / "rerankers"


def tiktoken_folder() -> Path:
    """tiktoken's rank files, each named by the SHA-1 of its address."""
    return models_folder() / "tiktoken"


def logs_folder() -> Path:
    """Where child processes leave what their native code prints; made when missing."""
    folder = Path(platformdirs.user_state_dir("workbench")) / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def cache_folder() -> Path:
    """``WORKBENCH_CACHE`` when set, else the XDG cache folder's ``workbench``: what can be made again."""
    named = os.environ.get("WORKBENCH_CACHE")
    return Path(named) if named else Path(platformdirs.user_cache_dir("workbench"))


def is_gone(path: str | Path) -> bool:
    """There is nothing at ``path``; where one may not look, that isn't known."""
    try:
        Path(path).stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def go_offline() -> None:
    """Tells every library not to use the network, and to wait politely for a core. Call before importing them."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TRANSFORMERS_OFFLINE"] = "1"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    os.environ["TIKTOKEN_CACHE_DIR"] = str(tiktoken_folder())
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's threads spin: 1 ms becomes 100 beside a busy model
    os.environ.setdefault("GGML_NO_BACKTRACE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
