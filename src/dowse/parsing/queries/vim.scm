; Vim script.
(function_definition (function_declaration name: [(identifier) @name (scoped_identifier (identifier) @name)]) @head) @function

(call_expression function: [(identifier) (scoped_identifier)] @call)

;; names
(let_statement . (scoped_identifier (identifier) @variable))
(let_statement . (identifier) @variable)
(command_statement name: (_) @macro)
