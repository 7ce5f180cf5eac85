"""Each block of the docs about Spark is run by a test as written, or listed here with a reason."""

from __future__ import annotations

import argparse
import re

import pytest

from pyspark_penstock.cli.arguments import parser
from tests.spark.documented import (
    DUMPS,
    PIPELINE,
    README,
    RECIPES,
    ROOT,
    SPARK,
    WATCHING,
    block,
    blocks,
)

RUN = {
    (SPARK, "import pyspark_penstock"): "cli/test_process.py",
    (SPARK, "jobs = (spark.readStream"): "cli/test_process.py",
    (DUMPS, "history = spark.read"): "dumps/test_dumps_session.py",
    (SPARK, "fast = (live.writeStream"): "test_session_streams.py",
    (SPARK, "fleet = (spark.readStream"): "test_session_fleet.py",
    (SPARK, "checked = (spark.readStream"): "test_session_fleet.py",
    (WATCHING, "from pyspark_penstock"): "jobs/test_listener.py",
    (WATCHING, "python -m pyspark_penstock run"): "cli/test_commands.py",
    (WATCHING, "batch 17  a:6379"): "jobs/test_progress.py",
    (WATCHING, "batch 17 has written"): "jobs/test_status.py",
    (PIPELINE, "orders = spark.read"): "cli/test_process.py",
    (README, "orders = (spark.readStream"): "cli/test_process.py",
    (PIPELINE, "python -m pyspark_penstock run"): "test_documented.py",
    (PIPELINE, "checkpoint ="): "jobs/test_pipeline.py",
    (PIPELINE, 'pip install ".[spark]"'): "jobs/test_cluster.py",
    (RECIPES, "orders = (spark.readStream"): "test_session_recipes.py",
    (RECIPES, "from deltalake import"): "test_session_recipes.py",
    (RECIPES, "from pyiceberg"): "test_session_recipes.py",
    (RECIPES, "from pyspark.sql.functions import from_json"): "test_session_recipes.py",
    (RECIPES, "import io"): "test_session_recipes.py",
    (RECIPES, "import pandas"): "test_session_recipes.py",
    (RECIPES, "checkpoint ="): "test_session_recipes.py",
    (RECIPES, "from pyspark.sql import SparkSession"): "test_session_recipes.py",
    (RECIPES, "name: sales"): "test_session_recipes.py",
    (RECIPES, "from pyspark import pipelines"): "test_session_recipes.py",
    (RECIPES, "spark-pipelines run"): "test_session_recipes.py",
    (PIPELINE, "stream "): "jobs/test_health.py",
}
NOT_RUN = {
    (README, 'pip install ".[spark]"'): "it is how the tests' own environment is made",
    (PIPELINE, "make demo-pipeline"): "minutes of CPU; tests run each command that it runs",
    (PIPELINE, "batch 3"): "a line that is printed",
    (PIPELINE, "DIR/stream="): "a layout",
    (PIPELINE, "trim  files"): "a line that is printed",
    (PIPELINE, "40,000 files"): "what make demo-pipeline prints",
}


@pytest.mark.parametrize("page", [SPARK, PIPELINE, DUMPS, WATCHING, README, RECIPES])
def test_each_block_is_run_by_a_test_or_listed(page: str) -> None:
    known = {beginning for where, beginning in [*RUN, *NOT_RUN] if where == page}
    assert [text for text in blocks(page) if not text.startswith(tuple(known))] == []
    for beginning in known:
        block(page, beginning)  # exactly one block begins like this


@pytest.mark.parametrize(("page", "beginning"), RUN)
def test_the_test_that_runs_a_block_reads_it_from_the_page(page: str, beginning: str) -> None:
    names = {SPARK: "SPARK", PIPELINE: "PIPELINE", README: "README"}
    name = (names | {DUMPS: "DUMPS", WATCHING: "WATCHING", RECIPES: "RECIPES"})[page]
    code = (ROOT / "tests/spark" / RUN[page, beginning]).read_text("utf-8")
    assert re.search(rf"block\({name}, ['\"]{re.escape(beginning)}", code)


def arguments_of(command: str) -> set[str]:
    """The names of a command's options."""
    (commands,) = [
        action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)
    ]
    options = {
        name for action in commands.choices[command]._actions for name in action.option_strings
    }
    return {name for name in options if name.startswith("--")}


def test_the_synopsis_names_only_existing_options() -> None:
    synopsis = block(PIPELINE, "python -m pyspark_penstock run").replace("\n      ", " ")
    lines = [line for line in synopsis.splitlines() if "--version" not in line]
    assert len(lines) == 7
    for line in lines:
        words = re.findall(r"[\w.-]+", line.removeprefix("python -m pyspark_penstock "))
        assert {word for word in words if word.startswith("--")} <= arguments_of(words[0])
