"""Contract reports that the file keeps: the latest of a server, and what changed since the one before."""

from __future__ import annotations

from workbench.ports import EntryRepository
from workbench.records.servers import ContractChange, ContractCheck, ContractReport, Outcome
from workbench.servers.words import promise_name


class Reports:
    """Every method may be called from any thread."""

    def __init__(self, entries: EntryRepository) -> None:
        self._entries = entries

    def keep(self, report: ContractReport) -> None:
        """One more, beside those of other days."""
        self._entries.put(f"{report.url}#{report.model} {report.created.isoformat()}", report)

    def all(self, url: str = "", model: str = "") -> tuple[ContractReport, ...]:
        """Newest first; only of that address and model when given."""
        found = [r for r in self._entries.all(ContractReport) if url in ("", r.url) and model in ("", r.model)]
        return tuple(sorted(found, key=lambda report: report.created, reverse=True))

    def before(self, report: ContractReport) -> ContractReport | None:
        """The last one of the same model at the same address, made before this one."""
        earlier = (r for r in self.all(report.url, report.model) if r.created < report.created)
        return next(earlier, None)

    def changes(self, report: ContractReport) -> tuple[ContractChange, ...]:
        """The promises that ended otherwise in the report before, or that only one of the two holds."""
        before = self.before(report)
        if before is None:
            return ()
        was = {check.key: check for check in before.checks}
        now = {check.key: check for check in report.checks}
        return tuple(
            ContractChange(key, promise_name(key), _outcome(was, key), _outcome(now, key))
            for key in {**now, **was}
            if _outcome(was, key) != _outcome(now, key)
        )


def _outcome(checks: dict[str, ContractCheck], key: str) -> Outcome | None:
    check = checks.get(key)
    return check.outcome if check else None
