"""Several training runs from one command, ``-m``: every combination of the values given, by one of Hydra's launchers.

``-m experiment=quick train.seed=1,2`` trains ``runs/quick-train.seed=1``, then ``runs/quick-train.seed=2``; with
``hydra/launcher=slurm`` each is a SLURM job of its own. All are checked before the first begins. The list of runs is
kept in ``runs/sweeps/<time>/runs.json``, from which each job takes its own; Hydra's launchers get its number alone.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from datetime import datetime
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import hydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.singleton import Singleton
from hydra.errors import CompactHydraException, HydraException
from omegaconf import DictConfig

from nardy.models.bundle import write_file
from nardy.scripts.command import INTERRUPTED, CommandError
from nardy.scripts.settings import first_line, to_dataclass

__all__ = ["expand", "is_sweep", "sweep", "train_one"]

_MANY = ("-m", "--multirun")
_OF_ALL = ("name", "runs", "resume")  # of these there is one value for a whole sweep, or none


def is_sweep(words: Sequence[str]) -> bool:
    """Do these words ask for several runs?"""
    return any(word in _MANY for word in words)


def expand(words: Sequence[str]) -> list[list[str]]:
    """The words of every run that ``words`` ask for, the last of each its own ``name=``; `CommandError`."""
    choices = [_values(word) for word in words]
    varied = [len(options) > 1 for options in choices]
    runs = []
    for chosen in product(*choices):
        different = [word.replace("/", "_") for word, varies in zip(chosen, varied, strict=True) if varies]
        others = [word for word in chosen if not word.startswith("name=")]
        runs.append([*others, f"name={'-'.join([_folder(chosen).name, *different])}"])
    return runs


def _values(word: str) -> list[str]:
    """The word once for each value it gives: ``a=1,2`` and ``a=range(1,3)`` are ``a=1`` and ``a=2``."""
    key = word.partition("=")[0]
    if key == "resume":
        raise CommandError(f"{word}: found it beside -m, wanted new runs: each is resumed by a command of its own")
    if key in _OF_ALL or word.startswith("-") or "=" not in word:
        return [word]  # a text with a comma, or what `compose` will refuse
    try:
        parsed = OverridesParser.create().parse_override(word)
        if not parsed.is_sweep_override():
            return [word]
        return [f"{parsed.get_key_element()}={value}" for value in parsed.sweep_string_iterator()]
    except (HydraException, ValueError) as error:  # unreadable, or values that cannot be counted
        raise CommandError(f"{word}: cannot be read as several values: {first_line(error)}") from None


def _folder(words: Sequence[str]) -> Path:
    """The folder of the run that ``words`` would begin; `CommandError` if they are wrong."""
    from nardy.scripts.train import TrainOptions, compose_run  # it begins sweeps

    return to_dataclass(TrainOptions, compose_run(words)).folder()


def sweep(words: Sequence[str]) -> int:
    """Check all runs, hand them to Hydra's launcher and wait for them; 0 if all went well."""
    if "WORLD_SIZE" in os.environ:
        raise CommandError("-m: found it under torchrun, whose processes share one run; wanted one of the two")
    hydras = [word for word in words if word.lstrip("+~").startswith("hydra")]
    _check_launcher(hydras)
    runs = expand([word for word in words if word not in (*_MANY, *hydras)])
    folders = [_folder(run) for run in runs]
    for folder in folders:
        if folder.is_dir() and any(folder.iterdir()):
            raise CommandError(f"{folder}: a run of that name exists; choose another name=NAME for the sweep")
    home = folders[0].parent / "sweeps" / f"{datetime.now():%Y-%m-%d_%H-%M-%S}"
    home.mkdir(parents=True)
    file = home.absolute() / "runs.json"
    write_file(file, json.dumps(runs, indent=1).encode())
    numbers = ",".join(map(str, range(len(runs))))
    ours = [
        f"hydra.sweep.dir={_quoted(home)}",
        "hydra.output_subdir=null",
        "hydra/job_logging=disabled",
        "hydra.job.name=nardy",
    ]
    code = _launch([*ours, f"+sweep.file={_quoted(file)}", f"+sweep.run={numbers}", *hydras])
    print(f"{len(runs)} runs{'' if code == 0 else ', not all to their end'}: {', '.join(map(str, folders))}")
    return code


def _check_launcher(words: Sequence[str]) -> None:
    """`CommandError` where a SLURM job is wanted and cannot be had."""
    launcher = next((word.partition("=")[2] for word in reversed(words) if word.startswith("hydra/launcher=")), "basic")
    if launcher not in ("slurm", "submitit_slurm", "submitit_local"):
        return
    if find_spec("submitit") is None:
        raise CommandError(f"hydra/launcher={launcher}: found no submitit, wanted it: pip install 'nardy[slurm]'")
    if launcher != "submitit_local" and shutil.which("srun") is None:
        raise CommandError(f"hydra/launcher={launcher}: found no srun here, wanted a machine of a SLURM cluster")


def _launch(words: Sequence[str]) -> int:
    """Let Hydra run `train_one` for each number; it reads ``sys.argv`` and ends with ``SystemExit`` on failure."""
    before = sys.argv
    sys.argv = [before[0], "--multirun", *words]
    try:
        hydra.main(version_base="1.3", config_path="pkg://nardy.configs", config_name="train")(train_one)()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    finally:
        sys.argv = before
    return 0


def _quoted(path: Path) -> str:
    """A path as Hydra's grammar reads it back."""
    text = str(path).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'"


def train_one(config: DictConfig) -> None:
    """One run of a sweep, in whatever process the launcher has it; a job that SLURM has queued again goes on."""
    from nardy.scripts.train import CONFIG_FILE, main

    words = json.loads(Path(config.sweep.file).read_text(encoding="utf-8"))[config.sweep.run]
    state = Singleton.get_state()  # ours composes with Hydra too, and would leave the sweep without its own
    folder = _folder(words)
    if int(os.environ.get("SLURM_RESTART_COUNT", "0")) and (folder / CONFIG_FILE).is_file():
        words = [f"resume={folder}"]
    try:
        code = main(words)
    finally:
        Singleton.set_state(state)
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    if code:
        raise CompactHydraException(f"{folder}: ended with status {code}")
