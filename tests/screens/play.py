"""The app on the fake desk, to look at: ``python -m tests.screens.play [--empty] [--slow SECONDS] [--copies N]``."""

from __future__ import annotations

import argparse
from typing import Any, cast

from screens.app import run
from tests.screens.fake_desk import FakeDesk


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--empty", action="store_true")
    parser.add_argument("--slow", type=float, default=0.3)
    parser.add_argument("--copies", type=int, default=0)
    args = parser.parse_args()
    run(cast(Any, FakeDesk(empty=args.empty, slow=args.slow, copies=args.copies)))


if __name__ == "__main__":
    main()
