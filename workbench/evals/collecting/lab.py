"""The datasets' side of the lab: import and export, questions that a model proposes, queries saved as cases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from workbench.errors import NotFoundError, UsageError
from workbench.evals.collecting import transfer
from workbench.evals.collecting.documents import Unpacked, unpack_documents
from workbench.evals.collecting.synthetic import Proposal, QuestionMaker, ReviewQueue, choose_chunks, proposals_without
from workbench.evals.gold.anchors import CENTRAL
from workbench.evals.measuring import segments
from workbench.evals.metrics import abstained
from workbench.evals.running.runner import Runtimes, find_dataset
from workbench.i18n import tr
from workbench.ports import Cancel, Store
from workbench.records.answers import Answer, Trace
from workbench.records.cases import (
    Candidate,
    Case,
    Dataset,
    GoldSpan,
    Imported,
)
from workbench.records.retrieval import FilterResult

SAVED: Final = "saved"
"""The tag of cases that were questions first."""


class DatasetLab:
    """Datasets, their versions and their review queues. Every method may be called from any thread."""

    def __init__(self, store: Store, runtimes: Runtimes) -> None:
        self._store = store
        self._runtimes = runtimes

    def datasets(self) -> tuple[Dataset, ...]:
        """Current versions, by name."""
        return self._store.datasets.datasets()

    def dataset(self, name: str) -> Dataset:
        """Raises NotFoundError."""
        return find_dataset(self._store, name)

    def cases(self, dataset: str) -> tuple[Case, ...]:
        """In order. Raises NotFoundError."""
        return self._store.datasets.cases(dataset)

    def versions(self, dataset: str) -> tuple[Dataset, ...]:
        """Every version of it, newest first. Raises NotFoundError."""
        return self._store.datasets.versions(dataset)

    def import_dataset(self, path: str, name: str = "", collection: str = "") -> Dataset:
        """As ``import_file``, for those who don't ask about skipped rows."""
        return self.import_file(path, name, collection).dataset

    def import_file(self, path: str, name: str = "", collection: str = "", format: str = "") -> Imported:
        """Reads a dataset in any known format; it asks about the chosen collection when "" is given.

        Raises:
            DocumentError: it can't be read, or not one row is a case.
            UsageError: no such format.
        """
        asked = collection or self._runtimes.collection()
        return transfer.import_dataset(self._store, Path(path).expanduser(), name, asked, format)

    def unpack_documents(self, path: str, format: str = "") -> Unpacked:
        """Writes the documents that a dataset brings along (BEIR, SQuAD) beside it, as files that ingest reads.

        Raises:
            UsageError: a format without documents, or their folder holds other files.
            DocumentError: it can't be read.
            FileError: the folder can't be written.
        """
        return unpack_documents(Path(path).expanduser(), format)

    def split_dataset(self, dataset: str, field: str) -> tuple[Dataset, ...]:
        """A dataset of its own for each value of ``field`` ("type", "language", "difficulty" or "tag").

        "faq" by language becomes "faq-en", "faq-es"; cases without a value are in none, those with two tags in both.

        Raises:
            NotFoundError: no such dataset.
            UsageError: no case has a value there, or no such field.
        """
        whole, cases = self.dataset(dataset), self.cases(dataset)
        parts = segments.parts_by(field, cases)
        return tuple(
            self._store.datasets.put(f"{whole.name}-{value}", whole.collection, members)
            for value, members in parts.items()
        )

    def export_dataset(self, dataset: str, path: str, format: str = "jsonl", version: str = "") -> tuple[str, ...]:
        """Writes it to a file or folder; returns the fields that the format couldn't keep.

        Raises:
            NotFoundError: no such dataset or version.
            UsageError: no such format, or the path can't be written.
        """
        return transfer.export_dataset(self._store, dataset, Path(path).expanduser(), format, version)

    def cautions(self, dataset: str) -> tuple[str, ...]:
        """What weakens the dataset before anything runs. Raises NotFoundError."""
        return transfer.cautions(self.cases(dataset))

    def review(self, dataset: str) -> ReviewQueue:
        """The candidates that wait for a person before they join the dataset."""
        return ReviewQueue(self._store.datasets, dataset)

    def propose(
        self, dataset: str, count: int, collection: str = "", seed: int = 0, cancel: Cancel | None = None
    ) -> Iterator[Proposal]:
        """Lets the loaded model ask about ``count`` chunks; each question that is any good waits for review at once.

        A dataset that isn't there yet begins empty, so that what is accepted joins the right collection.

        Raises:
            UsageError: no model is loaded.
            NotFoundError: no such collection.
            EngineError: the model is gone; what waits already stays.
        """
        generator = self._runtimes.generator()
        if generator is None:
            raise UsageError(
                tr("No model is loaded"),
                tr("Questions are made by a language model."),
                tr("Load one on the Models screen, or name it with --model."),
            )
        queue = self.review(dataset)
        asked_about = collection or self._runtimes.collection()
        chunks = choose_chunks(self._store.corpus, asked_about, count, seed)
        asked = [
            *(case.question for case in self._begun(dataset, asked_about)),
            *(c.case.question for c in queue.all()),
        ]
        for proposal in QuestionMaker(generator, seed=seed, known=asked).propose(chunks, cancel):
            queue.add([proposal])
            yield proposal

    def propose_unanswerable(self, dataset: str, count: int = 0) -> tuple[Candidate, ...]:
        """Its first ``count`` answerable cases (0: all) with their gold's documents left out wait for review.

        Raises:
            NotFoundError: no such dataset.
        """
        proposals = proposals_without(self.cases(dataset))
        return self.review(dataset).add(proposals[:count] if count else proposals)

    def find_candidate(self, dataset: str, candidate_id: int) -> Candidate:
        """Raises NotFoundError when the dataset's queue never had it."""
        found = next((c for c in self.review(dataset).all() if c.id == candidate_id), None)
        if found is None:
            raise NotFoundError(
                tr("No such candidate"),
                tr("No candidate {id} waits to join “{name}”.", id=candidate_id, name=dataset),
                tr("List those that wait: workbench eval review {name}", name=dataset),
            )
        return found

    def join_accepted(self, dataset: str) -> Dataset | None:
        """What was accepted joins the dataset, as one new version; None when there is nothing to make one of."""
        return self.review(dataset).join(self._runtimes.collection())

    def save_case(self, trace_id: str, dataset: str, case: Case | None = None) -> Dataset:
        """The question of a trace becomes a case: its gold is what the answer cited, anchored to the source's text.

        Where it abstained, the case says that abstaining is right. Saved again, the case is replaced. A dataset that
        isn't there yet is made. The review queue has it as accepted, for an expected answer to be written into it.

        Args:
            case: as a person made it, in place of all that.

        Raises:
            NotFoundError: no such trace.
            UsageError: the engine failed or the question was stopped, the answer cites nothing, or the dataset asks
                about another collection.
        """
        trace = self._store.traces.trace(trace_id)
        case = case or case_of(trace)
        kept = [known for known in self._begun(dataset, trace.manifest.collection) if known.id != case.id]
        collection = self.dataset(dataset).collection or trace.manifest.collection
        if collection != trace.manifest.collection:
            raise UsageError(
                tr("Another collection"),
                tr("“{dataset}” asks about “{its}”, and this question was asked of “{other}”.", dataset=dataset,
                   its=collection, other=trace.manifest.collection),
                tr("Save it in a dataset of its own."),
            )  # fmt: skip
        self.review(dataset).keep(case, f"ask · {trace_id}")
        return self._store.datasets.put(dataset, collection, [*kept, case])

    def _begun(self, dataset: str, collection: str) -> tuple[Case, ...]:
        """The dataset's cases; none for a new one, which begins here."""
        if any(known.name == dataset for known in self.datasets()):
            return self.cases(dataset)
        self._store.datasets.put(dataset, collection, ())
        return ()


def case_of(trace: Trace) -> Case:
    """The question of a trace as a case. Raises UsageError when it shows neither what answers nor that nothing does."""
    answer = trace.answer
    silent = abstained(answer.outcome) if answer else None
    cited = _cited(answer) if answer else ()
    if answer is None or silent is None or not (silent or cited):
        raise UsageError(
            tr("This makes no case"),
            tr("The answer cites nothing, or never came: there is no gold in it."),
            tr("Ask again, and save a question that was answered with citations, or rightly not answered."),
        )
    span = trace.span("filter")
    blank = Case(
        f"ask-{trace.id}",
        trace.query,
        answerable=not silent,
        language=answer.language,
        filter=span.output.expression if span and isinstance(span.output, FilterResult) else "",
        tags=(SAVED,),
    )
    return blank if silent else replace(blank, gold=cited)


def _cited(answer: Answer) -> tuple[GoldSpan, ...]:
    """What its citations quote, each span once; what doesn't support its claim is no gold."""
    good = (c for claim in answer.claims for c in claim.citations if c.level == "supported")
    return tuple(dict.fromkeys(GoldSpan(c.source_id, c.start, c.end, CENTRAL) for c in good))
