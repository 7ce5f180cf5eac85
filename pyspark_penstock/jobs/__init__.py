"""Jobs on streams, as functions: live pipelines, archive, restore, load, health, query, status."""
