"""A module that ends or hangs the process which imports it, or is imported only once a file exists."""

import os
import time
from pathlib import Path

_FAULT = os.environ["FAULTY_START"]
if _FAULT == "leave":
    os._exit(4)
while not Path(_FAULT).exists():
    time.sleep(0.01)


def any(reader, **arguments):
    """Answer that the process has started."""
    return "started"
