"""What a coarser quantization costs: two files of one model, for the model tasks of ``bench/tasks.jsonl``.

Writes into FOLDER a Q8_0 and a Q2_K of MODEL (quantized anew, which is allowed from any quantization: what MODEL has
lost already both have lost), the tasks, and the SQLite file that their SQL tasks ask about. Then it prints the command
that compares the two.

Run: python -m bench.quantizations MODEL.gguf FOLDER
"""

from __future__ import annotations

import ctypes
import shutil
import sqlite3
import sys
from pathlib import Path
from typing import Final

TASKS: Final = Path(__file__).with_name("tasks.jsonl")
FIXTURE: Final = "library.db"
TYPES: Final = {"Q8_0": "LLAMA_FTYPE_MOSTLY_Q8_0", "Q2_K": "LLAMA_FTYPE_MOSTLY_Q2_K"}
_LIBRARY: Final = """
CREATE TABLE books (title TEXT, author TEXT, year INTEGER, copies INTEGER, language TEXT);
INSERT INTO books VALUES
    ('The Lamp Room', 'Ada Quinn', 1998, 3, 'en'), ('Tides and Tables', 'Ada Quinn', 2004, 1, 'en'),
    ('Fog Signals', 'Jon Reyes', 2011, 5, 'en'), ('El faro y la red', 'Marta Gil', 2016, 2, 'es'),
    ('Mareas', 'Marta Gil', 2020, 4, 'es'), ('A Keeper''s Year', 'Lena Ode', 2020, 2, 'en');
CREATE TABLE loans (title TEXT, reader TEXT, days INTEGER);
INSERT INTO loans VALUES
    ('Fog Signals', 'Ines', 12), ('Fog Signals', 'Omar', 30), ('Mareas', 'Ines', 7), ('The Lamp Room', 'Pia', 21);
"""


def make_fixture(path: Path) -> None:
    """A new library of six books and four loans."""
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.executescript(_LIBRARY)
    connection.close()


def quantize(model: Path, target: Path, kind: str) -> None:
    """Writes ``model`` as ``target``. Raises SystemExit when the engine can't; nothing is left then."""
    import llama_cpp

    settings = llama_cpp.llama_model_quantize_default_params()
    settings.ftype = getattr(llama_cpp, TYPES[kind])
    settings.allow_requantize = True
    settings.nthread = 1
    if llama_cpp.llama_model_quantize(str(model).encode(), str(target).encode(), ctypes.byref(settings)):
        target.unlink(missing_ok=True)  # a failed run leaves a part of the file
        raise SystemExit(f"{model} can't be quantized to {kind}")


def main(model: Path, folder: Path) -> None:
    """Makes everything, and says how to go on."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(TASKS, folder)
    make_fixture(folder / FIXTURE)
    name = model.name.split(".")[0]
    made = [folder / f"{name}.{kind}.gguf" for kind in TYPES]
    for target, kind in zip(made, TYPES, strict=True):
        quantize(model, target, kind)
        print(f"{target}  {target.stat().st_size / 1e6:.1f} MB", file=sys.stderr)
    print(f"workbench datasets --import {folder / TASKS.name}")
    print(f"workbench eval sweep tasks --layer model --max-output 96 --vary model={','.join(map(str, made))}")
    print("workbench eval compare 1 2")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
