"""The recipes for Emacs in a real one, in batch mode: xref and compilation, by the real command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from helpers import need, write_tree

pytestmark = pytest.mark.large

EMACS = Path(__file__).parents[3] / "editors" / "emacs"
SCRIPT = """
(require 'dowse)
(require 'json)
(setq dowse-command (list (getenv "DOWSE_PYTHON") "-m" "dowse.interfaces.cli.main"))
(add-hook 'xref-backend-functions #'dowse-xref-backend)
(defun places (xrefs)
  (vconcat (mapcar (lambda (each)
                     (let ((where (xref-item-location each)))
                       (list (file-name-nondirectory (xref-location-group where))
                             (xref-location-line where)
                             (xref-item-summary each))))
                   xrefs)))
(find-file "shop/cart.py")
(search-forward "lookup(")
(backward-char 2)
(let* ((backend (xref-find-backend))
       (name (xref-backend-identifier-at-point backend))
       (results (list (cons 'name name)
                      (cons 'definitions (places (xref-backend-definitions backend name)))
                      (cons 'references (places (xref-backend-references backend name)))
                      (cons 'apropos (places (xref-backend-apropos backend "pay for a cart"))))))
  (condition-case problem
      (xref-backend-references backend "no_such_symbol")
    (user-error (push (cons 'problem (cadr problem)) results)))
  (let ((compilation-ask-about-save nil))
    (dowse "pay; touch 'injected'"))
  (let ((process (get-buffer-process "*dowse*")))
    (while (and process (process-live-p process)) (accept-process-output process 0.1)))
  (with-current-buffer "*dowse*" (compilation--ensure-parse (point-max)))
  (next-error)
  (push (list 'visited (file-name-nondirectory (buffer-file-name)) (line-number-at-pos)) results)
  (princ (json-encode results)))
"""


def run_emacs(folder: Path, script: str) -> Any:
    """Return what a script prints in a folder, with dowse.el loaded."""
    need("emacs")
    command = ["emacs", "-Q", "--batch", "-l", str(EMACS / "dowse.el"), "--eval", f"(progn {script})"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_xref_and_compilation(shop: Path, monkeypatch) -> None:
    monkeypatch.setenv("DOWSE_PYTHON", sys.executable)
    results = run_emacs(shop, SCRIPT)
    assert results["name"] == "lookup"
    assert results["definitions"][0][:2] == ["prices.py", 1]
    assert {(file, line) for file, line, _ in results["references"]} == {
        ("cart.py", 3),
        ("cart.py", 19),
        ("cart.py", 24),
    }
    assert "resolved" in results["references"][0][2]
    assert results["apropos"][0][:2] == ["cart.py", 22]
    assert "no symbol is called no_such_symbol" in results["problem"]
    assert results["visited"] == ["cart.py", 22]
    assert not (shop / "injected").exists()


WAGES = "".join(
    f"class {name}:\n    def total(self):\n        return {number}\n\n\n"
    for number, name in enumerate(("Cook", "Baker", "Waiter", "Cleaner", "Driver", "Clerk"))
)
POINT = """
(require 'dowse)
(require 'json)
(setq dowse-command (list (getenv "DOWSE_PYTHON") "-m" "dowse.interfaces.cli.main"))
(add-hook 'xref-backend-functions #'dowse-xref-backend)
(defun lines-at (text)
  (find-file "pay.py")
  (goto-char (point-min))
  (search-forward text)
  (let ((backend (xref-find-backend)))
    (vconcat (mapcar (lambda (each) (xref-location-line (xref-item-location each)))
                     (xref-backend-definitions backend (xref-backend-identifier-at-point backend))))))
(princ (json-encode (vector (lines-at "Waiter().tot") (lines-at "anyone.tot") (lines-at "wag"))))
"""


def test_a_method_leads_to_its_definition_and_not_to_its_namesakes(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("DOWSE_PYTHON", sys.executable)
    pay = "from jobs import *\n\n\ndef wages(anyone):\n    return Waiter().total() + anyone.total()\n"
    root = write_tree(
        tmp_path / "pay", {"jobs.py": WAGES, "pay.py": pay, "wages_of.py": "def wages_of():\n    pass\n"}
    )
    waiter, anyone, wages = run_emacs(root, POINT)
    assert waiter == [WAGES[: WAGES.index("class Waiter")].count("\n") + 2]
    assert len(anyone) == 6  # nothing says which one it is
    assert wages == [4]


def test_it_compiles_without_a_warning(tmp_path: Path) -> None:
    need("emacs")
    source = tmp_path / "dowse.el"
    source.write_bytes((EMACS / "dowse.el").read_bytes())
    strict = "(setq byte-compile-error-on-warn t)"
    done = subprocess.run(
        ["emacs", "-Q", "--batch", "--eval", strict, "-f", "batch-byte-compile", str(source)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
