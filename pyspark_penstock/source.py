"""The data source of ``format("penstock")``."""

from __future__ import annotations

import importlib
from typing import Any, ClassVar

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)
from pyspark.sql.types import StructType

from pyspark_penstock import schema as schemas
from pyspark_penstock.collector import Collector
from pyspark_penstock.dumps.dump_options import dump_options, is_of_dumps, refuse_streaming
from pyspark_penstock.errors import OptionError
from pyspark_penstock.read import views
from pyspark_penstock.read.batch_reader import PenstockReader
from pyspark_penstock.read.infer_schema import infer_schema
from pyspark_penstock.read.pushdown import PushdownReader
from pyspark_penstock.read.source_options import (
    ENTRIES,
    ReadOptions,
    batch_options,
    schema_options,
    stream_options,
)
from pyspark_penstock.read.stream_reader import PenstockStreamReader
from pyspark_penstock.shared.group_reader import SharedStreamReader
from pyspark_penstock.worker_process import settle
from pyspark_penstock.write.sink_options import sink_options
from pyspark_penstock.write.writer import PenstockStreamWriter, PenstockWriter


class PenstockDataSource(DataSource):
    """Reads streams as data frames and writes data frames to streams. Raises OptionError."""

    collector: ClassVar[Collector | None] = None  # where tasks of streaming queries tell figures

    @classmethod
    def name(cls) -> str:
        """The name for ``format(...)``."""
        return "penstock"

    def schema(self) -> StructType:
        """The schema if the user gives none."""
        if is_of_dumps(self.options):
            default: StructType = dumps().default_schema(dump_options(self.options))
            return default
        options, view = schema_options(self.options)
        if view != ENTRIES:
            return views.SCHEMAS[view]
        if options.infer_schema:
            inferred = infer_schema(options)
            return schemas.with_metadata(inferred) if options.include_metadata else inferred
        fields = schemas.fields_type(options.value_format, options.fields_format)
        return schemas.raw_schema(fields)

    def reader(self, schema: StructType) -> DataSourceReader:
        """The reader of ``spark.read``."""
        if is_of_dumps(self.options):
            reader: DataSourceReader = dumps().DumpReader(dump_options(self.options), schema)
            return reader
        options = batch_options(self.options)
        if options.view != ENTRIES:
            return views.ViewReader(options, schema)
        check_schema(options, schema)
        kind = PushdownReader if options.push_down_filters else PenstockReader
        return kind(options, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """The reader of ``spark.readStream``."""
        refuse_streaming(self.options)
        options = stream_options(self.options)
        check_schema(options, schema)
        if options.sharing:
            return SharedStreamReader(options, options.sharing, schema, self.collector)
        return PenstockStreamReader(options, schema, self.collector)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """The writer of ``df.write``."""
        if overwrite:
            raise OptionError("mode('overwrite'): entries can only be appended; delete the stream")
        return PenstockWriter(sink_options(self.options), schema)

    def streamWriter(  # noqa: N802
        self, schema: StructType, overwrite: bool
    ) -> DataSourceStreamWriter:
        """The writer of ``df.writeStream``."""
        if overwrite:
            raise OptionError("outputMode('complete'): entries can only be appended")
        settle()  # each batch has this run twice: before its tasks, and after them
        return PenstockStreamWriter(sink_options(self.options), schema, self.collector)


def dumps() -> Any:
    """The module that reads dumps. Raises OptionError without the server's package.

    It reads dumps by the server's own code. All else does without, so ``spark-submit --py-files``
    sends this package alone.
    """
    try:
        return importlib.import_module("pyspark_penstock.dumps.reader")
    except ModuleNotFoundError as problem:
        raise OptionError(
            f"dumps are read by the server's code: install penstock where tasks run ({problem})"
        ) from None


def check_schema(options: ReadOptions, schema: StructType) -> None:
    """Raises OptionError if an option needs a column that the schema does not have."""
    if options.corrupt_column and options.corrupt_column not in schema.names:
        raise OptionError(
            f"columnNameOfCorruptRecord={options.corrupt_column!r}: the schema has no such column"
        )
    raw = schemas.raw_schema(schemas.fields_type(options.value_format, options.fields_format))
    if options.formats and not schemas.same_shape(schema, raw):
        raise OptionError(
            f"{options.formats[0]!r} is for reading without a schema: here one says the types"
        )
    if options.include_metadata and not schemas.is_raw(schema):
        missing = [name for name in schemas.METADATA if name not in schema.names]
        if missing:
            raise OptionError(
                f"includeMetadata=true with a schema of your own: name {', '.join(missing)} in it"
            )
