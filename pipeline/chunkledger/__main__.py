"""`python -m chunkledger` is the `chunkledger` command."""

from chunkledger.cli import main

if __name__ == "__main__":
    main()
