"""Corpus -> documents."""
