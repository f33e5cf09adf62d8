"""Text -> blocks that cover it."""
