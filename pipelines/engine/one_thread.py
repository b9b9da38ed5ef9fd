"""Keeps OpenBLAS to one thread; called before numpy is imported, which starts the threads."""

import os


def one_thread() -> None:
    """Set it for this process and those that it starts, unless the user has set it.

    The matrices are small: a second thread gains nothing, and spins while it waits for the next.
    Workers are processes, so that all cores have work.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
