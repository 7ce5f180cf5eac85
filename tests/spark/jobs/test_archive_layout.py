"""The layout of archives: folders, columns, and names that are not UTF-8."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as f

from pyspark_penstock.errors import OptionError
from pyspark_penstock.jobs.archive_layout import EXACT_FIELDS, read_archive, to_archive

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SKIPPED_MS = 1_325_203_200_000  # 2011-12-30, a day that Samoa did not have
LATEST_MS = 2**63 // 1_000  # the latest timestamp
DATES = {
    0: "1970-01-01",
    86_399_999: "1970-01-01",
    86_400_000: "1970-01-02",
    SKIPPED_MS - 1: "2011-12-29",
    SKIPPED_MS: "2011-12-30",
    SKIPPED_MS + 86_400_000: "2011-12-31",
}


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Apia", "America/New_York"])
def test_the_date_of_an_entry_is_its_id_s_date_in_utc(spark: SparkSession, zone: str) -> None:
    before = spark.conf.get("spark.sql.session.timeZone")
    assert before is not None
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        times = [f"({ms}L, timestamp_millis({ms}))" for ms in (*DATES, LATEST_MS)]
        moments = f"VALUES {', '.join(times)} AS of(ms, timestamp)"
        fields = f"CAST(array() AS {EXACT_FIELDS}) AS fields"
        entry = f"'in' AS stream, concat(ms, '-0') AS id, timestamp, {fields}"
        rows = to_archive(spark.sql(f"SELECT {entry} FROM {moments}"))
        found = rows.select(f.split_part("id", f.lit("-"), f.lit(1)), f.col("date").cast("string"))
        dates = {int(ms): date for ms, date in found.collect()}
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    assert dates == DATES | {LATEST_MS: "+294247-01-10"}


def test_a_folder_that_is_not_an_archive_gives_a_one_line_error(
    spark: SparkSession, tmp_path: Path
) -> None:
    with pytest.raises(OptionError, match="is not an archive: ") as refused:
        read_archive(spark, str(tmp_path / "nowhere"))
    assert "\n" not in str(refused.value)
