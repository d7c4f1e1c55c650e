; Scheme and Racket: everything is a list, so the first word decides.
(list . (symbol) @word . (list . (symbol) @name) @head (#set! words "define define/contract define/public define/private define/override define-values define*")) @function
(list . (symbol) @word . (symbol) @name . (list . (symbol) @_lambda) (#set! words "define") (#any-of? @_lambda "lambda" "case-lambda" "λ")) @function
(list . (symbol) @word . [(symbol) @name (list . (symbol) @name)] (#set! words "define-syntax define-syntax-rule define-macro")) @macro
(list . (symbol) @word . (symbol) @name (#set! words "struct define-struct define-record-type")) @struct
(list . (symbol) @word . (symbol) @name (#set! words "define-class")) @class

(list . (symbol) @call)

;; names
(program (list . (symbol) @_define . (symbol) @variable (#any-of? @_define "define" "define-values")))
(list . (symbol) @_define . (symbol) (list (symbol) @field) (#any-of? @_define "struct"))
