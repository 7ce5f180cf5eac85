"""The screens of ``penstock top``, by textual: the only modules that know a terminal."""
