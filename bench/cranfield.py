"""Cranfield as documents and a dataset, and how well the format modules and the anchors carry it.

Two traps of its files: the topics have numbers of their own, while the judgements count them 1 to 225 in the file's
order; and the judgements' codes (1 to 4, and -1 for not relevant) have a direction that sources dispute. Here every
code from 1 to 4 is relevant with grade 1, and -1 is grade 0: compare on binary relevance.

Run: python -m bench.cranfield [FOLDER]   (with a folder, the documents and a BEIR dataset are left there)
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from workbench.evals.formats import read_dataset, write_dataset
from workbench.records.cases import Case, GoldSpan

DATA = Path(os.environ.get("WORKBENCH_DATA", Path(__file__).parents[2] / "shared" / "data")) / "cranfield"
_DOCUMENT = re.compile(r"<docno>(.*?)</docno>.*?<title>(.*?)</title>.*?<text>(.*?)</text>", re.DOTALL)
_TOPIC = re.compile(r"<title>(.*?)</title>", re.DOTALL)


def documents(data: Path = DATA) -> Iterator[tuple[str, str]]:
    """(source_id, text) of the 1,400 abstracts; the text begins with its title, as in the collection."""
    for number, _title, text in _DOCUMENT.findall((data / "cran.all.1400.xml").read_text("utf-8")):
        yield f"{number.strip()}.txt", text.strip() + "\n"


def cases(data: Path = DATA) -> tuple[Case, ...]:
    """The 225 queries by their place in the file, 1 to 225, with binary judgements."""
    judged: dict[int, dict[str, int]] = {}
    for line in filter(str.strip, (data / "cranqrel").read_text("utf-8").splitlines()):
        query, document, code = line.split()
        judged.setdefault(int(query), {})[f"{document}.txt"] = int(int(code) > 0)
    topics = _TOPIC.findall((data / "cran.qry.xml").read_text("utf-8"))
    return tuple(
        Case(
            id=str(number),
            question=" ".join(text.split()),
            gold=tuple(GoldSpan(name, grade=grade) for name, grade in judged.get(number, {}).items()),
            language="en",
        )
        for number, text in enumerate(topics, start=1)
    )


def write(folder: Path, data: Path = DATA) -> None:
    """The abstracts as files in ``documents/``, and the dataset in ``beir/`` and ``trec/``."""
    (folder / "documents").mkdir(parents=True, exist_ok=True)
    texts = dict(documents(data))
    for name, text in texts.items():
        (folder / "documents" / name).write_text(text, "utf-8")
    for form in ("beir", "trec"):
        write_dataset(cases(data), folder / form, form, text_of=lambda name: texts.get(name, ""))


def main(arguments: Sequence[str]) -> None:
    """Writes the files and reads them back in each format."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(arguments[0] if arguments else scratch)
        write(folder)
        print(f"documents {len(list((folder / 'documents').iterdir()))}")
        for form in ("beir", "trec"):
            read = read_dataset(folder / form)
            relevant = sum(span.grade > 0 for case in read.cases for span in case.gold)
            judged = sum(len(case.gold) for case in read.cases)
            same = {c.id: set(c.gold) for c in read.cases} == {c.id: set(c.gold) for c in cases()}
            print(f"{form:9} {len(read.cases)} cases, {relevant} of {judged} judgements relevant, same gold: {same}")
            for problem in read.problems:
                print(f"          line {problem.line}: {problem.reason}")


if __name__ == "__main__":
    main(sys.argv[1:])
