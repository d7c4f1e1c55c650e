"""Processes that read hostile bytes give up their rights: Landlock and seccomp, where Linux has them.

Landlock (Salaün 2021) denies files and TCP, a seccomp filter the system calls that it does not know of:
sockets, other programs, other processes, permissions and times of files. What a kernel lacks is left out.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

# `linux/landlock.h`: system calls, the same on all machines, and rights on files.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
# How many rights on files there are, by version; later ones have what version 5 has.
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
# From these versions on TCP, and signals and abstract sockets of others, are denied, too.
_NET_VERSION, _SCOPE_VERSION = 4, 6
# `linux/prctl.h`, `linux/seccomp.h`, `linux/audit.h`.
_SET_SECCOMP, _NO_NEW_PRIVILEGES, _FILTER_MODE = 22, 38, 2
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_AUDIT_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# Classic BPF: load a word, jump if equal, if greater or equal, if a bit is set, return.
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
# Of `seccomp_data`; the first argument's lower half, as both machines are little-endian.
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET, _ARGUMENT_OFFSET = 0, 4, 16
_X32_BIT = 0x40000000
# Numbers on x86_64 and on aarch64; 0 where there is none.
_DENIED = {
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200),
    "io_uring_setup": (425, 425), "execve": (59, 221), "execveat": (322, 281),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kill": (62, 129), "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424), "pidfd_getfd": (438, 438), "fork": (57, 0), "vfork": (58, 0),
    "truncate": (76, 45),  # which Landlock knows of from version 3 on
    "chmod": (90, 0), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, 0), "fchown": (93, 55), "lchown": (94, 0), "fchownat": (260, 54),
    "utime": (132, 0), "utimes": (235, 0), "futimesat": (261, 0), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "unshare": (272, 97), "setns": (308, 268), "open_by_handle_at": (304, 265),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
}  # fmt: skip
# Threads are allowed, processes are not: they would outlive the limits of this one. The C library does
# without `clone3`, of which a filter can't see the flags. Signals go to this process only (`abort`).
_CLONE, _CLONE3, _TGKILL = (56, 220), 435, (234, 131)
_THREAD_FLAG = 0x10000
# Shared libraries, which Python loads when it needs them; also those of Nix, Guix and Homebrew.
_LIBRARIES = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"),
    *("/nix/store", "/gnu/store", "/home/linuxbrew/.linuxbrew"),
)


def confine(readable: Iterable[str]) -> None:
    """Deny this process, for ever, the network, other processes, and all but to read some files and folders.

    Call it before there is a second thread: it holds for the threads that are started later.
    """
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError):  # a system that lacks one may have the other
        _call("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        _restrict_files(readable)
    with contextlib.suppress(OSError):
        _filter_system_calls()


def program_paths() -> list[str]:
    """Return where Python, this package and its libraries are, for processes that import while they work."""
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    package = str(Path(__file__).parents[1])
    return [sys.prefix, sys.base_prefix, package, *filter(None, [*sys.path, *libraries]), *_LIBRARIES]


def protections() -> list[str]:
    """Return what confines processes on this system."""
    if sys.platform != "linux":
        return []
    found = []
    with contextlib.suppress(OSError):
        found.append(f"Landlock {_landlock_version()}")
    if Path("/proc/sys/kernel/seccomp/actions_avail").exists() and platform.machine() in _AUDIT_ARCHITECTURES:
        found.append("seccomp")
    return found


def _landlock_version() -> int:
    return _call("syscall", _CREATE_RULESET, None, 0, _VERSION_FLAG)


def _restrict_files(readable: Iterable[str]) -> None:
    version = _landlock_version()
    rights = (1 << _RIGHTS.get(version, 16)) - 1
    attributes = [rights, *[3] * (version >= _NET_VERSION), *[3] * (version >= _SCOPE_VERSION)]
    size = 8 * len(attributes)
    ruleset = _call("syscall", _CREATE_RULESET, struct.pack(f"={len(attributes)}Q", *attributes), size, 0)
    try:
        for path in readable:
            _allow(ruleset, path)
        _call("syscall", _RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str) -> None:
    """Allow to read a file, or a folder and what is below; what does not exist can't be allowed."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rights = _READ_FILE | _READ_DIR if Path(path).is_dir() else _READ_FILE
        _call("syscall", _ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, handle), 0)
    finally:
        os.close(handle)


def _filter_system_calls() -> None:
    machine = platform.machine()
    if machine not in _AUDIT_ARCHITECTURES:
        return
    column = list(_AUDIT_ARCHITECTURES).index(machine)
    code = [
        (_LOAD, 0, 0, _ARCHITECTURE_OFFSET),
        (_IF_EQUAL, 1, 0, _AUDIT_ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _ERROR | errno.EPERM),
        (_LOAD, 0, 0, _NUMBER_OFFSET),
        *_deny_if((_IF_AT_LEAST, _X32_BIT)),
        *_deny_if((_IF_EQUAL, _CLONE3), errno.ENOSYS),
        *(each for numbers in _DENIED.values() for each in _deny_if((_IF_EQUAL, numbers[column]))),
        *_deny_unless(_CLONE[column], (_IF_SET, _THREAD_FLAG)),
        *_deny_unless(_TGKILL[column], (_IF_EQUAL, os.getpid())),
        (_RETURN, 0, 0, _ALLOW),
    ]
    instructions = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *each) for each in code))
    program = struct.pack("@HP", len(code), ctypes.addressof(instructions))
    _call("prctl", _SET_SECCOMP, _FILTER_MODE, program, 0, 0)


def _deny_if(test: tuple[int, int], error: int = errno.EPERM) -> list[tuple[int, int, int, int]]:
    """Return instructions that deny the calls for which a test of their number holds; 0 is none."""
    return [(test[0], 0, 1, test[1]), (_RETURN, 0, 0, _ERROR | error)] if test[1] else []


def _deny_unless(number: int, test: tuple[int, int]) -> list[tuple[int, int, int, int]]:
    """Return instructions that deny a call unless a test of its first argument holds."""
    return [
        (_IF_EQUAL, 0, 4, number),
        (_LOAD, 0, 0, _ARGUMENT_OFFSET),
        (test[0], 0, 1, test[1]),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ERROR | errno.EPERM),
    ]


def _call(name: str, *arguments: int | bytes | None) -> int:
    """Call a function of the C library; raises OSError if it fails."""
    function = getattr(ctypes.CDLL(None, use_errno=True), name)
    function.restype = ctypes.c_long
    result: int = function(*(ctypes.c_long(each) if isinstance(each, int) else each for each in arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
