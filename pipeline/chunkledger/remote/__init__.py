"""URL of an object store -> its objects, and what Delta Lake needs to write there."""
