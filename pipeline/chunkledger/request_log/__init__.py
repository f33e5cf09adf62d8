"""The log of packed requests -> what is wrong with slot, K or chunking, and where to stop adding chunks."""
