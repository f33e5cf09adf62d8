"""Encoding name -> exact counts, offline."""
