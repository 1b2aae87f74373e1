"""What llama.cpp's log tells of a load: the buffers, the layers a GPU took, and what went wrong first.

There is no other way to these: its interface gives neither the split of the memory nor the reason of a failure.
"""

from __future__ import annotations

import re
from typing import Final

from workbench.records.models import MemorySplit

BUFFER_LINE: Final = re.compile(r": +(.+?) buffer size = +([\d.]+) MiB")
OFFLOAD_LINE: Final = re.compile(r"offloaded (\d+)/(\d+) layers to GPU")
GRAPH_LINE: Final = re.compile(r"graph: +nodes = +(\d+)")
FUNCTION: Final = re.compile(r"^\w+: (error loading model: )?")
MIB: Final = 1024 * 1024


class LogReader:
    """Reads a load's log line by line.

    Attributes:
        offloaded: layers that a GPU took, and layers there are; None where no GPU could take any.
        graph_nodes: of the graph that was reserved last.
    """

    def __init__(self) -> None:
        self._errors: list[str] = []
        self._buffers: list[tuple[str, int]] = []
        self.offloaded: tuple[int, int] | None = None
        self.graph_nodes = 0

    def read(self, line: str, *, error: bool = False) -> None:
        """The next line."""
        if error:
            self._errors.append(line)
        elif found := BUFFER_LINE.search(line):
            self._buffers.append((found[1], round(float(found[2]) * MIB)))
        elif found := OFFLOAD_LINE.search(line):
            self.offloaded = int(found[1]), int(found[2])
        elif found := GRAPH_LINE.search(line):
            self.graph_nodes = int(found[1])

    @property
    def on_device(self) -> bool:
        """Some weights lie in a buffer that isn't the CPU's."""
        return any(name.endswith(" model") and not name.startswith("CPU") for name, _ in self._buffers)

    def first_error(self) -> str:
        """The first error since the last call, which names the cause; without the function it came from."""
        line = self._errors[0] if self._errors else ""
        self._errors.clear()
        return FUNCTION.sub("", line)

    def memory(self) -> MemorySplit:
        """The buffers mentioned so far, by use. A scratch buffer that was laid out again counts once."""
        total = {"model": 0, "KV": 0, "RS": 0}
        scratch = {"compute": dict[str, int](), "output": dict[str, int]()}
        for name, size in self._buffers:
            use = name.split()[-1]
            if use in scratch:
                scratch[use][name] = size
            elif use in total:
                total[use] += size
        return MemorySplit(
            weights=total["model"],
            kv_cache=total["KV"] + total["RS"],
            compute=sum(scratch["compute"].values()),
            output=sum(scratch["output"].values()),
        )
