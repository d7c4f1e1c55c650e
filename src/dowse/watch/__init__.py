"""Keeps an index up to date while files change.

>>> watcher = Watcher(index, on_event=print)   # doctest: +SKIP
>>> watcher.start()                            # doctest: +SKIP  a thread here, a process at low priority
>>> watcher.settle(2.0)                        # doctest: +SKIP  all that was saved before can be searched
>>> watcher.stop()                             # doctest: +SKIP
"""

from dowse.watch.watcher import Watcher, WatchEvent, WatchOptions

__all__ = ["WatchEvent", "WatchOptions", "Watcher"]
