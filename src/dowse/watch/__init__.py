"""Keeps indexes up to date: a worker process that updates, embeds, learns, and watches files.

>>> maintainer = Maintainer(on_event=print)    # doctest: +SKIP
>>> maintainer.request(index, "watch")         # doctest: +SKIP  a thread here, a process at low priority
>>> maintainer.close()                         # doctest: +SKIP
"""

from dowse.watch.maintainer import Maintainer
from dowse.watch.messages import WatchEvent

__all__ = ["Maintainer", "WatchEvent"]
