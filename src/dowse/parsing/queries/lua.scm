; Lua.
(function_declaration name: (_) @name parameters: (_) @head) @function
(assignment_statement (variable_list . name: (_) @name) (expression_list . value: (function_definition parameters: (_) @head))) @function
(table_constructor (field name: (identifier) @name value: (function_definition parameters: (_) @head)) @function)

(function_call name: [(identifier) (dot_index_expression) (method_index_expression)] @call)
(function_call name: (identifier) @word arguments: (arguments . (string content: (_) @import)) (#set! words "require"))

;; names
(variable_list name: (identifier) @variable)
(assignment_statement (variable_list name: (dot_index_expression table: (identifier) @_table field: (identifier) @own_field) (#eq? @_table "self")))
(assignment_statement (variable_list name: (dot_index_expression) @field))
(field name: (identifier) @property)
(function_definition body: (_) @local)

;; uses
(dot_index_expression) @member
(identifier) @identifier
(assignment_statement (variable_list name: [(identifier) (dot_index_expression)] @written))
