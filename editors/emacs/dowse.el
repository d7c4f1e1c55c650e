;;; dowse.el --- Find code by what it does  -*- lexical-binding: t; -*-

;; Package-Requires: ((emacs "28.1"))
;; SPDX-License-Identifier: Apache-2.0
;; Keywords: tools, matching

;;; Commentary:

;; Without a server, by the command `dowse':
;;
;;   M-x dowse           search by names or a question; hits in a compilation buffer
;;   M-x dowse-callers   what calls the symbol at point
;;
;; and a backend of xref (M-., M-?, C-M-.), for files that no other backend knows:
;;
;;   (add-hook 'xref-backend-functions #'dowse-xref-backend 90)
;;
;; With eglot, `dowse lsp' answers more: see docs/EDITORS.md.

;;; Code:

(require 'cl-lib)
(require 'compile)
(require 'project)
(require 'xref)

(defgroup dowse nil
  "Find code by what it does."
  :group 'tools)

(defcustom dowse-command '("dowse")
  "The program and its first arguments."
  :type '(repeat string))

(defcustom dowse-max-results 50
  "How many hits a search has."
  :type 'integer)

(defun dowse--root ()
  "Return the root of the project, else the current folder: commands run there."
  (let ((project (project-current)))
    (expand-file-name (if project (project-root project) default-directory))))

(defun dowse--arguments (command query)
  "Return the command line of COMMAND for QUERY, a list: no shell reads it."
  (append dowse-command command
          (list "--format" "vimgrep" "-k" (number-to-string dowse-max-results) "--" query)))

(defun dowse--run (command query)
  "Run COMMAND for QUERY; return a list of (FILE LINE COLUMN TEXT)."
  (let* ((default-directory (dowse--root))
         (words (dowse--arguments command query))
         (errors (make-temp-file "dowse"))
         found)
    (unwind-protect
        (with-temp-buffer
          (let ((coding-system-for-read 'utf-8)
                (code (apply #'call-process (car words) nil (list t errors) nil (cdr words))))
            (when (eql code 2)
              (user-error "%s" (with-temp-buffer
                                 (insert-file-contents errors)
                                 (string-trim (buffer-string))))))
          (goto-char (point-min))
          (while (re-search-forward "^\\(.+?\\):\\([0-9]+\\):\\([0-9]+\\):\\(.*\\)$" nil t)
            (push (list (expand-file-name (match-string 1))
                        (string-to-number (match-string 2))
                        (string-to-number (match-string 3))
                        (match-string 4))
                  found))
          (nreverse found))
      (delete-file errors))))

(defun dowse--xrefs (command query)
  "Return what COMMAND finds for QUERY, for xref."
  (cl-loop for (file line column text) in (dowse--run command query)
           ;; Columns are in bytes; those of a line in ASCII are also characters.
           collect (xref-make text (xref-make-file-location file line (max 0 (1- column))))))

;;;###autoload
(defun dowse-xref-backend ()
  "Return the backend, for `xref-backend-functions'."
  'dowse)

(cl-defmethod xref-backend-identifier-at-point ((_backend (eql dowse)))
  "Return the symbol at point."
  (let ((symbol (thing-at-point 'symbol)))
    (and symbol (substring-no-properties symbol))))

(cl-defmethod xref-backend-identifier-completion-table ((_backend (eql dowse)))
  "Complete nothing: any text is a query."
  nil)

(cl-defmethod xref-backend-definitions ((_backend (eql dowse)) identifier)
  "Return where IDENTIFIER is defined."
  (dowse--xrefs '("search" "--mode" "symbol") identifier))

(cl-defmethod xref-backend-references ((_backend (eql dowse)) identifier)
  "Return every reference to IDENTIFIER, with its certainty."
  (dowse--xrefs '("uses") identifier))

(cl-defmethod xref-backend-apropos ((_backend (eql dowse)) pattern)
  "Search for PATTERN: words or a question."
  (dowse--xrefs '("search") pattern))

(defun dowse--compile (command query)
  "Show what COMMAND finds for QUERY in a compilation buffer."
  (let ((default-directory (dowse--root)))
    (compilation-start (mapconcat #'shell-quote-argument (dowse--arguments command query) " ")
                       nil (lambda (_mode) "*dowse*"))))

;;;###autoload
(defun dowse (query)
  "Search for QUERY by names or a question; `next-error' visits the hits."
  (interactive "sdowse: ")
  (dowse--compile '("search") query))

;;;###autoload
(defun dowse-callers (symbol)
  "Show what calls SYMBOL, by default the one at point."
  (interactive
   (list (read-string "Callers of: " (thing-at-point 'symbol))))
  (dowse--compile '("callers") symbol))

(provide 'dowse)
;;; dowse.el ends here
