"""A module that ends or hangs the process which imports it."""

import os
import time

if os.environ["FAULTY_START"] == "leave":
    os._exit(4)
time.sleep(3600)
