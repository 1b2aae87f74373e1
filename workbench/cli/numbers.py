"""A number on the command line that can be reckoned with."""

from __future__ import annotations

import math
from typing import Any

import click

from workbench.i18n import tr


class Number(click.FloatRange):
    """In its range, and neither infinite, as 1e400 is read, nor none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Fails with a usage error."""
        found = float(super().convert(value, param, ctx))
        if not math.isfinite(found):
            self.fail(tr("“{value}” is no number", value=value), param, ctx)
        return found
