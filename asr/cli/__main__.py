"""`python -m asr.cli`, the same as the console command `asr`."""

from asr.cli import main

main()
