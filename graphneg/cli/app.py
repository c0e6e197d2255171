"""Start the program ``graphneg``.

`main` runs a command. If the command raises a `GraphnegError`, `main` prints the error message to standard
error and exits with the status of the error. If ``GRAPHNEG_TRACEBACK`` is set, `main` prints the traceback,
too. The commands are imported inside `main`, so that Ctrl-C during the imports is handled.
"""

from __future__ import annotations

import gc
import os
import sys
import traceback
from collections.abc import Sequence

from graphneg.cli.interrupts import INTERRUPTED, exit_on_interrupt

GC_THRESHOLD = 50_000
"""Number of new objects after which Python's garbage collector searches for reference cycles.

Python's default is far lower. Importing libraries creates many objects but hardly any reference cycles, so
searching more often would only make the program start more slowly.
"""

OPENMP_SPIN_COUNT = ("GOMP_SPINCOUNT", "10000")
"""Name and value of an environment variable of GNU OpenMP, which is set unless the user has set it.

The value is the number of times that an idle thread of PyTorch checks for new work before it releases its
core. With OpenMP's default, which is much higher, two models that generate text at the same time on the same
cores take thirty times as long.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit the process.

    The exit status is 0 on success, 1 on an error, 2 on incorrect usage, and 130 if the user pressed Ctrl-C.
    A missing model, and data that cannot be used for training or evaluation, count as incorrect usage.

    Args:
        arguments: The command line arguments without the program name; None for the arguments in
            ``sys.argv``.
    """
    gc.set_threshold(GC_THRESHOLD)
    # Set OpenMP's environment variable before torch is imported, because importing torch loads OpenMP, which
    # reads the variable only then.
    os.environ.setdefault(*OPENMP_SPIN_COUNT)
    with exit_on_interrupt():
        from graphneg.cli.program import app
        from graphneg.cli.terminal import print_error
        from graphneg.errors import GraphnegError
        from graphneg.imports import mark_own_process
        from graphneg.plugins import TRACEBACK

        mark_own_process()
        try:
            app(args=arguments, prog_name="graphneg")
        except GraphnegError as error:
            if os.environ.get(TRACEBACK):
                traceback.print_exception(error)
            print_error(str(error))
            sys.exit(error.status)
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)
