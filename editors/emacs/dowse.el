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
(require 'json)
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
  (dowse--locations (dowse--run command query)))

(defun dowse--locations (found)
  "Return FOUND, a list of (FILE LINE COLUMN TEXT), for xref."
  (cl-loop for (file line column text) in found
           ;; Columns are in bytes; those of a line in ASCII are also characters.
           collect (xref-make text (xref-make-file-location file line (max 0 (1- column))))))

;;;###autoload
(defun dowse-xref-backend ()
  "Return the backend, for `xref-backend-functions'."
  'dowse)

(cl-defmethod xref-backend-identifier-at-point ((_backend (eql dowse)))
  "Return the symbol at point, with the place where it begins as a text property."
  (let ((bounds (bounds-of-thing-at-point 'symbol)))
    (and bounds
         (propertize (buffer-substring-no-properties (car bounds) (cdr bounds))
                     'dowse-place (dowse--place (car bounds))))))

(defun dowse--place (position)
  "Return file, line and column in bytes of POSITION; nil without a file."
  (and buffer-file-name
       (save-excursion
         (goto-char position)
         (list (file-truename buffer-file-name)
               (line-number-at-pos nil t)
               (string-bytes (buffer-substring-no-properties (line-beginning-position) position))))))

(defun dowse--called (identifier)
  "Return what the call of IDENTIFIER at its place means, for xref."
  (pcase-let ((`(,file ,line ,column) (get-text-property 0 'dowse-place identifier)))
    (when file
      (let* ((root (file-truename (dowse--root)))
             (place (format "%s:%d" (file-relative-name file root) line))
             (called (cl-loop for step in (dowse--callees place)
                              for symbol = (plist-get step :symbol)
                              for confidence = (dowse--confidence-at step line column)
                              when (and confidence (equal (plist-get symbol :name) identifier))
                              collect (cons confidence symbol)))
             (sure (cl-remove-if-not (lambda (each) (member (car each) '("resolved" "unique"))) called)))
        (cl-loop for (_ . symbol) in (or sure called)
                 for path = (expand-file-name (plist-get symbol :path) root)
                 collect (xref-make (plist-get symbol :signature)
                                    (xref-make-file-location path (plist-get symbol :start_line) 0)))))))

(defun dowse--confidence-at (step line column)
  "Return how certain the call of STEP at LINE and COLUMN is, or nil."
  (cl-loop for reference in (plist-get step :references)
           when (and (eql (plist-get reference :line) line)
                     (eql (plist-get reference :column) column))
           return (plist-get reference :confidence)))

(defun dowse--callees (place)
  "Return what the function at PLACE, a path and a line, calls."
  (let ((default-directory (dowse--root)))
    (with-temp-buffer
      (when (eql 0 (apply #'call-process (car dowse-command) nil '(t nil) nil
                          (append (cdr dowse-command) (list "callees" "--json" "-k" "0" "--" place))))
        (goto-char (point-min))
        (plist-get (json-parse-buffer :object-type 'plist :array-type 'list) :steps)))))

(defun dowse--defined (identifier)
  "Return the definitions of IDENTIFIER, else of similar names, for xref."
  (let* ((name (concat (regexp-quote identifier) "\\_>"))
         (found (dowse--run '("search" "--mode" "symbol") identifier))
         (same (cl-remove-if-not
                (pcase-lambda (`(,_file ,_line ,column ,text))
                  (let ((start (min (max 0 (1- column)) (length text))))
                    (eql start (string-match name text start))))
                found)))
    (dowse--locations (or same found))))

(cl-defmethod xref-backend-identifier-completion-table ((_backend (eql dowse)))
  "Complete nothing: any text is a query."
  nil)

(cl-defmethod xref-backend-definitions ((_backend (eql dowse)) identifier)
  "Return where IDENTIFIER is defined: by the call at point, else by name."
  (or (dowse--called identifier) (dowse--defined identifier)))

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
