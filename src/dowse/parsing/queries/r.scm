; R: a function is a value that is assigned.
(binary_operator lhs: [(identifier) (string)] @name operator: ["<-" "=" "<<-"] rhs: (function_definition body: (_) @body)) @function

(call function: [(identifier) (namespace_operator)] @call)
(call function: (identifier) @word arguments: (arguments . (argument value: [(identifier) (string)] @import)) (#set! words "library require"))

;; names
(program (binary_operator lhs: (identifier) @variable operator: ["<-" "=" "<<-"]))
(call function: (identifier) @_make arguments: (arguments . (argument value: (string content: (_) @class))) (#any-of? @_make "setClass" "setRefClass" "R6Class"))
(call function: (identifier) @_make arguments: (arguments . (argument value: (string content: (_) @function))) (#any-of? @_make "setGeneric" "setMethod"))
