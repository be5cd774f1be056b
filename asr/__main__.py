"""`python -m asr` is the command `asr`."""

from asr.cli import main

if __name__ == "__main__":
    main()
