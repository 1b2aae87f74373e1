"""What was measured of an approximate index: kept in the file, and told wherever it answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from workbench.i18n import tr
from workbench.indexing.forms import form_name
from workbench.ports import Store
from workbench.records.codec import decode, encode
from workbench.records.corpus import Index, VectorForm
from workbench.records.indexes import FormRecall

_MEASURED: Final = "indexes.recall.{index}"


def keep_recall(store: Store, index_id: int, measured: Sequence[FormRecall]) -> None:
    """In place of what was measured before; nothing to forget it."""
    store.settings.set(_MEASURED.format(index=index_id), json.dumps(encode(measured)) if measured else "")


def kept_recall(store: Store, index: Index) -> tuple[FormRecall, ...]:
    """What was measured last, marked as outdated where the index has other vectors now; nothing before."""
    stored = store.settings.get(_MEASURED.format(index=index.id))
    if not stored:
        return ()
    now = index.vectors, store.indexes.newest(index.id)
    found = (decode(FormRecall, row) for row in json.loads(stored))
    return tuple(replace(one, outdated=(one.vectors, one.newest) != now) for one in found)


def recall_note(store: Store, index: Index) -> str:
    """Of the exact nearest, the share that this index finds, or that nobody measured it; "" for an exact index."""
    if index.form == VectorForm():
        return ""
    name = form_name(index.form)
    own = next((one for one in kept_recall(store, index) if one.form == index.form), None)
    if own is None:
        return tr("{form}: its recall against exact was never measured", form=name)
    r = own.recall
    outdated = tr("outdated") if own.outdated else ""
    told = (outdated, f"Recall_ANN@{own.k} {r.value:.3f} [{r.low:.3f}, {r.high:.3f}]", name, own.filter)
    return " · ".join(filter(None, told))  # what counts comes first: a narrow screen cuts the rest
