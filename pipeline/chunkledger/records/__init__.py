"""Chunks -> Arrow rows."""
