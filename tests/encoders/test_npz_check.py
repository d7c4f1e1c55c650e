"""Weights in NumPy archives: plain arrays, as large as they say."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from dowse.encoders.npz_check import check_npz


def archive(path: Path, data: bytes, *, compress: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compress) as out:
        out.writestr("a.npy", data)
    return path


def npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


def test_plain_arrays_pass(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.ones((3, 4), np.float16), b=np.ones(3, np.float32))
    check_npz(tmp_path / "x.npz")


def test_compressed_arrays_are_refused(tmp_path: Path) -> None:
    """Hundreds of megabytes of zeros take a few hundred kilobytes."""
    data = npy(np.zeros((1000, 1000), np.float32))
    with pytest.raises(ValueError, match="compressed"):
        check_npz(archive(tmp_path / "x.npz", data, compress=zipfile.ZIP_DEFLATED))


def test_a_header_that_claims_terabytes_is_refused(tmp_path: Path) -> None:
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"shape": (10**12,), "fortran_order": False, "descr": "<f4"})
    with pytest.raises(ValueError, match="another size"):
        check_npz(archive(tmp_path / "x.npz", out.getvalue() + bytes(36)))


@pytest.mark.parametrize(
    "data",
    [
        npy(np.array([print], object)),
        npy(np.array(["text"])),
        npy(np.zeros((2, 2, 2), np.float32)),
        npy(np.zeros(3, [("a", "f4")])),
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\x03\x00",
        b"no array",
    ],
)
def test_what_is_no_array_of_floats_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises((ValueError, EOFError)):
        check_npz(archive(tmp_path / "x.npz", data))
