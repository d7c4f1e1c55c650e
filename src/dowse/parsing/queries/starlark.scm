; Starlark.
(function_definition name: (identifier) @name body: (block) @body) @function

(call function: [(identifier) (attribute)] @call)
(call function: (identifier) @word arguments: (argument_list (string (string_content) @path)) (#set! words "load"))

;; names
(assignment left: (identifier) @variable)
(call function: (_) arguments: (argument_list (keyword_argument name: (identifier) @_key value: (string (string_content) @key))) (#eq? @_key "name"))
