"""Symptom → layer → first move → metric: what to try first, and what has to move for it to have helped.

The smallest change to the layer that fails comes first; where it isn't enough, ``otherwise`` says what comes next.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.i18n import tr
from workbench.text.words import fold


@dataclass(frozen=True, slots=True)
class Symptom:
    """A row of the table, in the interface's language.

    Attributes:
        also: other words by which people look for it.
    """

    symptom: str
    layer: str
    move: str
    metric: str
    otherwise: str = ""
    also: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """All its cells, and the other words."""
        return (self.symptom, self.layer, self.move, self.metric, self.otherwise, self.also)


def find_symptoms(text: str = "") -> tuple[Symptom, ...]:
    """The rows that hold every word of ``text``, whatever its case and accents; all of them for ""."""
    wanted = fold(text).split()
    return tuple(row for row in symptoms() if all(word in fold(" ".join(row.words)) for word in wanted))


def symptoms() -> tuple[Symptom, ...]:
    """The whole table: output, knowledge, retrieval, answer, then cost and operation."""
    return (*_output(), *_retrieval(), *_answers(), *_operation())


def _output() -> tuple[Symptom, ...]:
    return (
        Symptom(
            tr("The reply breaks the program that reads it"),
            tr("output contract"),
            tr("A JSON Schema, a grammar made of it, and a check after it"),
            tr("share of valid JSON"),
            tr("A larger model; fewer fields"),
            also=tr("invalid JSON, parse error, format, schema"),
        ),
        Symptom(
            tr("It misunderstands the task, or answers without order"),
            tr("prompt"),
            tr("Clear instructions and a few examples"),
            tr("useful answers over 30 cases"),
            tr("An output contract"),
        ),
        Symptom(
            tr("It makes up stock, payments or dates of one person"),
            tr("live state"),
            tr("A narrow tool, or SQL, that reads the real value"),
            tr("exact values; “not available” handled"),
            also=tr("hallucination, invents, fabricates, made up"),
        ),
        Symptom(
            tr("Style or criteria waver over thousands of alike cases"),
            tr("learned behaviour"),
            tr("Examples in the prompt, measured"),
            tr("gain over the baseline, no regressions"),
            tr("Fine-tuning, once prompt, schema and retrieval no longer help"),
        ),
        Symptom(
            tr("Data may not leave the machine"),
            tr("deployment"),
            tr("A quantized local model, or a private server"),
            tr("least quality in your own evaluation, and time"),
            also=tr("privacy, confidential, cloud, offline"),
        ),
    )


def _retrieval() -> tuple[Symptom, ...]:
    return (
        Symptom(
            tr("The rules it answers by are old"),
            tr("knowledge"),
            tr("Retrieval with validity dates; retire old documents"),
            tr("answers with the source in force"),
            tr("A query tool on the official source"),
            also=tr("outdated, stale, obsolete"),
        ),
        Symptom(
            tr("Codes, names or dates aren't found"),
            tr("retrieval"),
            tr("The lexical lane beside the dense one, fused"),
            tr("recall@5 on those cases"),
            tr("An embedder for your language and field"),
        ),
        Symptom(
            tr("Question and document use other words"),
            tr("retrieval"),
            tr("Several wordings of the question, or a hypothetical answer"),
            tr("recall@20"),
            tr("Another embedder"),
        ),
        Symptom(
            tr("The question asks for several things at once"),
            tr("retrieval"),
            tr("Split it, and search for each part"),
            tr("recall of every part"),
            tr("Steps with checks between them"),
        ),
        Symptom(
            tr("The right chunk is found, but far down"),
            tr("ranking"),
            tr("A reranker over the first 20"),
            tr("MRR@10, recall@1"),
            tr("Smaller chunks"),
        ),
        Symptom(
            tr("Many chunks say the same"),
            tr("context"),
            tr("Drop duplicates; less overlap"),
            tr("distinct sources in the context"),
            tr("Maximal marginal relevance"),
        ),
        Symptom(
            tr("The right chunk is found and left out of the context"),
            tr("context"),
            tr("Budget, order and limit of the evidence"),
            tr("share of gold in the context"),
        ),
        Symptom(
            tr("The answer depends on relations or on the whole corpus"),
            tr("structure"),
            tr("Summaries by section, or SQL over tables"),
            tr("accuracy on those questions"),
            tr("A graph of entities"),
        ),
    )


def _answers() -> tuple[Symptom, ...]:
    return (
        Symptom(
            tr("It sounds right and cites the wrong source"),
            tr("citations"),
            tr("Look at what was retrieved, filtered and put in first"),
            tr("citation precision"),
            tr("A grammar that only allows given labels"),
            also=tr("hallucination, wrong citation, wrong reference"),
        ),
        Symptom(
            tr("It says more than its sources do"),
            tr("groundedness"),
            tr("Check each claim against its source"),
            tr("share of supported claims"),
            tr("Extractive answers"),
            also=tr("hallucination, invents, made up, unfaithful"),
        ),
        Symptom(
            tr("It answers what it can't know"),
            tr("abstention"),
            tr("A threshold τ chosen on cases without an answer"),
            tr("correct abstentions; risk at coverage"),
            also=tr("hallucination, invents, doesn't say that it doesn't know"),
        ),
        Symptom(
            tr("A better prompt doesn't help, the evidence isn't there"),
            tr("retrieval"),
            tr("Leave the prompt; measure retrieval without a model"),
            tr("recall@k"),
        ),
    )


def _operation() -> tuple[Symptom, ...]:
    return (
        Symptom(
            tr("The first token takes long"),
            tr("prefill"),
            tr("Less context; what is stable first, so that the cache serves it"),
            tr("TTFT p95, hit ratio H"),
            tr("A smaller model or quantization"),
            also=tr("latency, slow, delay, waiting, TTFT"),
        ),
        Symptom(
            tr("The text comes slowly"),
            tr("decode"),
            tr("Shorter answers; a smaller quantization"),
            tr("TPOT, tokens/s"),
            tr("Other hardware"),
            also=tr("latency, slow, speed, throughput"),
        ),
        Symptom(
            tr("It was fast alone and is slow with many"),
            tr("queue"),
            tr("Little's law: arrivals × seconds must fit what runs at once"),
            tr("requests in the system, p95"),
            tr("A server that batches; more replicas"),
            also=tr("latency, concurrency, load, timeouts"),
        ),
        Symptom(
            tr("The model doesn't fit, or the machine runs out of memory"),
            tr("memory"),
            tr("A smaller quantization; a shorter context"),
            tr("peak memory; quality in your own evaluation"),
            tr("A smaller model; a server on another machine"),
            also=tr("RAM, VRAM, out of memory, OOM, swap, crash"),
        ),
        Symptom(
            tr("It costs too much"),
            tr("budget"),
            tr("Look at the ledger: the longest part of the prompt, the hit ratio"),
            tr("cost per useful answer"),
            tr("A smaller model; local from the break-even on"),
            also=tr("expensive, price, bill, money"),
        ),
        Symptom(
            tr("It ran yesterday and fails today"),
            tr("contract"),
            tr("Probe it layer by layer; compare versions"),
            tr("the layer that fails"),
            tr("A pinned version; a second provider"),
            also=tr("error, broken, crash, outage"),
        ),
    )
