"""Runs `asr` commands, one a line of standard input, in forks of a process that has imported everything.

A command starts at once and in a process group of its own, so that a test can kill many of them at moments spread
over the work itself. A line of input is a JSON pair: the arguments, and after how many seconds the group is killed
(null: never). The answer is the exit status, or minus the number of the signal that ended the command.
"""

import json
import os
import signal
import sys
import time

import numpy as np

import asr.recipe.training  # noqa: F401 (for all that it imports)
from asr.cli import main
from asr.features.config import FeatureConfig
from asr.features.mfcc import mfcc

mfcc(np.zeros(8000, np.float32), FeatureConfig(sample_rate=8000))  # imports the last of the libraries

for line in sys.stdin:
    arguments, seconds = json.loads(line)
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        main(arguments)
    os.setpgid(child, child)  # here too, lest the kill comes before the child has done it
    if seconds is not None:
        time.sleep(seconds)
        os.killpg(child, signal.SIGKILL)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
