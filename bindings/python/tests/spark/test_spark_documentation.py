"""The programs in docs/spark.md run."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from published import Crawl

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Spark leaves sockets to the garbage collector, and warns of future versions.
pytestmark = pytest.mark.filterwarnings("default")

PAGE = Path(__file__).parents[4] / "docs" / "spark.md"


def test_examples_on_the_page_run(spark: "SparkSession", crawl: Crawl, tmp_path: Path) -> None:
    asked, tables, by_hand, in_sql = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.S | re.M)
    asked = asked.replace("/crawl/w*/", f"{crawl.paths[0].parent}/w*/").replace("parquet(\"", f"parquet(\"{tmp_path}/")
    names: dict[str, Any] = {"spark": spark, "queries": crawl.fingerprints[:100]}
    exec(compile(asked, str(PAGE), "exec"), names)
    assert names["near"].columns == ["query", "store", "url", "distance", "fingerprint", "complete"]
    assert names["pairs"].columns == ["left", "right", "distance"]
    assert names["clusters"].columns == ["url", "store", "fingerprint", "leader", "distance"]
    assert names["near"].count() > 90 and names["pairs"].count() > 0
    assert (tmp_path / "visits" / "_SUCCESS").exists()
    exec(compile(tables.replace("/crawl/w*/", f"{crawl.paths[0].parent}/w*/"), str(PAGE), "exec"), names)
    assert names["recent"].columns == ["url", "fingerprint"] and names["visits"].columns == ["url", "at"]
    assert names["recent"].count() == names["visits"].count() == 0
    by_hand = by_hand.replace("print(", "total.append(")
    total: list[int] = []
    values = {**names, "paths": crawl.paths, "total": total}
    exec(compile(by_hand, str(PAGE), "exec"), values)
    exec(compile(in_sql, str(PAGE), "exec"), values)
    assert [name for name, _ in values["per_store"]] == ["w0", "w1", "w2", "w3"]
    assert sum(total) == names["pairs"].count()
