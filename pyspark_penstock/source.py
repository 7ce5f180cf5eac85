"""The data source: what Spark asks for by ``format("penstock")``."""

from __future__ import annotations

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)
from pyspark.sql.types import StructType

from pyspark_penstock import schema as schemas
from pyspark_penstock import views
from pyspark_penstock.batch_reader import PenstockReader
from pyspark_penstock.errors import OptionError
from pyspark_penstock.infer import infer_schema
from pyspark_penstock.pushdown import PushdownReader
from pyspark_penstock.shared_reader import SharedStreamReader
from pyspark_penstock.sink_options import sink_options
from pyspark_penstock.source_options import (
    ReadOptions,
    batch_options,
    schema_options,
    stream_options,
)
from pyspark_penstock.stream_reader import PenstockStreamReader
from pyspark_penstock.writer import PenstockStreamWriter, PenstockWriter


class PenstockDataSource(DataSource):
    """Streams of Redis as data frames, both ways. Raises OptionError for what it cannot do."""

    @classmethod
    def name(cls) -> str:
        """What stands in ``format(...)``."""
        return "penstock"

    def schema(self) -> StructType:
        """The schema where the user gives none."""
        options, view = schema_options(self.options)
        if view != "entries":
            return views.SCHEMAS[view]
        if options.infer_schema:
            inferred = infer_schema(options)
            return schemas.with_metadata(inferred) if options.include_metadata else inferred
        fields = schemas.fields_type(options.value_format, options.fields_format)
        return schemas.raw_schema(fields)

    def reader(self, schema: StructType) -> DataSourceReader:
        """The reader of ``spark.read``."""
        options = batch_options(self.options)
        if options.view != "entries":
            return views.ViewReader(options, schema)
        check_metadata(options, schema)
        kind = PushdownReader if options.push_down_filters else PenstockReader
        return kind(options, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """The reader of ``spark.readStream``."""
        options = stream_options(self.options)
        check_metadata(options, schema)
        if options.sharing:
            return SharedStreamReader(options, options.sharing, schema)
        return PenstockStreamReader(options, schema)

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
        return PenstockStreamWriter(sink_options(self.options), schema)


def check_metadata(options: ReadOptions, schema: StructType) -> None:
    """Refuse ``includeMetadata`` where the user's schema leaves no room for it."""
    if options.include_metadata and not schemas.is_raw(schema):
        missing = [name for name in schemas.METADATA if name not in schema.names]
        if missing:
            raise OptionError(
                f"includeMetadata=true with a schema of your own: name {', '.join(missing)} in it"
            )
