"""The exact solution of sprintgammon, as a player and as the referee for models."""

from .evaluator import ExactEvaluator, load_exact
from .report import ExactReport, exact_report
from .solve import Solution, solve
from .store import StoreError, find_or_solve, load_solution, save_solution, solution_path
from .tables import exact_tables

__all__ = [
    "ExactEvaluator",
    "ExactReport",
    "Solution",
    "StoreError",
    "exact_report",
    "exact_tables",
    "find_or_solve",
    "load_exact",
    "load_solution",
    "save_solution",
    "solution_path",
    "solve",
]
