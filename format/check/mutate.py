"""Changes one field of a page at a time: the checks must notice."""

import copy
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import pages
from pages import MAINS, Compiler, Parsers

def mutants(read: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    return iter(())


def run(checks: Any, read: dict[str, Any], part: int = 1) -> None:
    pass
