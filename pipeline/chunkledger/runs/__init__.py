"""The steps of one run: look at the sources, make what is new, publish it."""
