"""click's own words ("Usage", "Missing argument") through the interface's catalogue.

click asks gettext for them, which looks for compiled files of the system's locale and knows nothing of ``--lang``.
"""

from __future__ import annotations

import sys

import click

from workbench.i18n import tr


def translate_click() -> None:
    """Makes every module of click ask the catalogue instead of gettext. Doing it again changes nothing."""
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{click.__name__}."):
            for asked, answer in (("_", tr), ("ngettext", _counted)):
                if hasattr(module, asked):
                    setattr(module, asked, answer)


def _counted(one: str, many: str, count: int) -> str:
    return tr(one if count == 1 else many)
