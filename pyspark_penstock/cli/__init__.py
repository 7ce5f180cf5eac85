"""The command line of the jobs: ``python -m pyspark_penstock``."""
