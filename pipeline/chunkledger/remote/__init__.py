"""URL of an object store -> its objects, a lock among them, and what Delta Lake needs to write there."""
