"""Retrieval through the product on Cranfield and XQuAD, by lane and hybrid: our figures beside those of ir-measures.

Both are computed from the same rankings (100 deep), so they must agree to rounding; the script fails where they don't.
Ours come with a 95 % interval. Every document is one chunk. ir-measures calls trec_eval.

- Cranfield: 1,400 abstracts, 225 queries counted in file order as ``cranqrel`` does. Codes 1 to 4 are relevant, −1
  isn't. Sources dispute which end of the codes is best, so all figures but one are binary; ``nDCG@10 graded`` follows
  the file's own readme: code 1 (a complete answer) → grade 3, 2 → 2, 3 and 4 → 1. ir-measures' nDCG has linear gains:
  it is given 2^grade − 1 as the judgement.
- XQuAD: 240 paragraphs, 1,190 questions, en→en and es→es; the one relevant paragraph is the question's own.

Needs the group ``bench`` (pip install --group bench). Run: python -m bench.ir_check [cranfield] [xquad-en] [xquad-es]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

import ir_measures
from ir_measures import AP, RR, P, R, Success, nDCG

from bench.xquad import COLLECTION, DATA, corpus, load
from workbench import paths
from workbench.evals.measuring.scoring import describe, estimate, sample
from workbench.evals.metrics import ndcg, one_each, retrieval_scores
from workbench.ports import Store
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.search import Searcher

DEPTH = 100
CUTS = (5, 10)
GRADES = {1: 3, 2: 2, 3: 1, 4: 1}
THEIRS = {f"precision@{k}": P @ k for k in CUTS} | {f"recall@{k}": R @ k for k in CUTS}
THEIRS |= {f"hit@{k}": Success @ k for k in CUTS} | {f"ndcg@{k}": nDCG @ k for k in CUTS}
THEIRS |= {"mrr": RR @ DEPTH, "map": AP @ DEPTH}
GRADED = "nDCG@10 graded"
TOLERANCE = 1e-9

Rankings = dict[str, dict[str, list[str]]]  # lane → query → documents, best first


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents, queries and judgements: relevant documents of each query with their grade."""

    name: str
    documents: Mapping[str, str]
    queries: Mapping[str, str]
    judged: Mapping[str, Mapping[str, int]]


def cranfield() -> Collection:
    """Cranfield, judged queries in the order of their file."""
    folder = DATA / "cranfield"
    documents = {
        f"{_text(doc, 'docno')}.txt": _text(doc, "text")
        for doc in ElementTree.fromstring(f"<all>{(folder / 'cran.all.1400.xml').read_text('utf-8')}</all>").iter("doc")
    }
    tops = ElementTree.parse(folder / "cran.qry.xml").getroot().iter("top")
    queries = {str(number): _text(top, "title") for number, top in enumerate(tops, start=1)}
    judged: dict[str, dict[str, int]] = {}
    for line in (folder / "cranqrel").read_text("utf-8").splitlines():
        if line.strip():
            query, document, code = line.split()
            if int(code) in GRADES:
                judged.setdefault(query, {})[f"{document}.txt"] = GRADES[int(code)]
    return Collection("cranfield", documents, queries, judged)


def xquad(language: str) -> Collection:
    """XQuAD in one language."""
    paragraphs, questions = load(language)
    queries = {str(number): question.text for number, question in enumerate(questions)}
    judged = {str(number): {question.source_id: 1} for number, question in enumerate(questions)}
    return Collection(f"xquad-{language}", paragraphs, queries, judged)


def rank(store: Store, searcher: Searcher, queries: Mapping[str, str]) -> Rankings:
    """Each query through both lanes and their fusion."""
    names = {c.id: d.source_id for d in store.corpus.documents(COLLECTION) for c in store.corpus.chunks(d.id)}
    found: Rankings = {}
    for query, text in queries.items():
        result = searcher.search(text, SearchOptions(COLLECTION, k=DEPTH, candidates=DEPTH))
        lanes: dict[str, list[str]] = {lane.lane: [hit.chunk_id for hit in lane.hits] for lane in result.lanes}
        lanes["hybrid"] = [view.hit.chunk_id for view in result.hits]
        for lane, ids in lanes.items():
            found.setdefault(lane, {})[query] = [names[chunk] for chunk in ids]
    return found


def ours(run: Mapping[str, list[str]], judged: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, float]]:
    """Metric → query → value."""
    values: dict[str, dict[str, float]] = {}
    for query, grades in judged.items():
        held = one_each(run[query])
        binary: dict[str, int] = dict.fromkeys(grades, 1)
        scores = {name: value for k in CUTS for name, value in retrieval_scores(held, binary, k).items()}
        for name, value in {**scores, GRADED: ndcg(held, grades, 10) or 0.0}.items():
            values.setdefault(name, {})[query] = value
    return values


def theirs(run: Mapping[str, list[str]], judged: Mapping[str, Mapping[str, int]]) -> dict[str, float]:
    """Metric → mean, by ir-measures."""
    ranking = [
        ir_measures.ScoredDoc(query, document, float(-place))
        for query, documents in run.items()
        for place, document in enumerate(documents)
    ]
    binary = [ir_measures.Qrel(query, name, 1) for query, grades in judged.items() for name in grades]
    gains = [ir_measures.Qrel(q, name, 2**grade - 1) for q, grades in judged.items() for name, grade in grades.items()]
    found = ir_measures.calc_aggregate(list(THEIRS.values()), binary, ranking)
    graded = ir_measures.calc_aggregate([nDCG @ 10], gains, ranking)
    return {name: found[measure] for name, measure in THEIRS.items()} | {GRADED: graded[nDCG @ 10]}


def check(collection: Collection) -> float:
    """Prints both sets of figures for each lane; returns the largest difference."""
    with corpus(dict(collection.documents)) as (store, searcher):
        rankings = rank(store, searcher, collection.queries)
    worst = 0.0
    for lane, run in rankings.items():
        mine, reference = ours(run, collection.judged), theirs(run, collection.judged)
        for name, values in mine.items():
            found = estimate(describe(name), sample((value,) for value in values.values()))
            worst = max(worst, abs(found.value - reference[name]))
            interval = f"[{found.low:.3f}, {found.high:.3f}]"
            print(
                f"{collection.name:10} {lane:8} {name:15} {found.value:.4f} {interval} "
                f"n={found.n:<5} ir-measures {reference[name]:.4f}  {found.method}",
                flush=True,
            )
    return worst


def _text(element: ElementTree.Element, tag: str) -> str:
    return " ".join((element.findtext(tag) or "").split())


def main(arguments: Sequence[str]) -> None:
    """Prints the tables; exits with 1 where the two disagree."""
    paths.go_offline()
    known: dict[str, Callable[[], Collection]] = {
        "cranfield": cranfield,
        "xquad-en": lambda: xquad("en"),
        "xquad-es": lambda: xquad("es"),
    }
    worst = max(check(known[name]()) for name in arguments or known)
    print(f"largest difference: {worst:.1e}")
    if worst > TOLERANCE:
        sys.exit("ours and ir-measures disagree")


if __name__ == "__main__":
    main(sys.argv[1:])
