; Julia: a short function is an assignment to a call.
(module_definition name: (_) @name) @module
(struct_definition (type_head [(identifier) @name (binary_expression . (identifier) @name) (parametrized_type_expression . (identifier) @name) (binary_expression . (parametrized_type_expression . (identifier) @name))]) (block)? @body) @struct
(abstract_definition (type_head [(identifier) @name (binary_expression . (identifier) @name) (parametrized_type_expression . (identifier) @name)])) @type
(function_definition (signature [(call_expression . (_) @name) (typed_expression . (call_expression . (_) @name)) (where_expression . (call_expression . (_) @name)) (where_expression . (typed_expression . (call_expression . (_) @name)))]) @head) @function
(assignment . [(call_expression . (_) @name) (typed_expression . (call_expression . (_) @name)) (where_expression . (call_expression . (_) @name))] @head) @function
(macro_definition (signature (call_expression . (identifier) @name)) @head) @macro

(call_expression . [(identifier) (field_expression)] @call)
(macrocall_expression (macro_identifier (identifier) @call))
(import_statement (identifier) @import)
(using_statement (identifier) @import)

;; names
(const_statement (assignment . [(identifier) @constant (typed_expression . (identifier) @constant)]))
(source_file (assignment . (identifier) @variable))
(module_definition (block (assignment . (identifier) @variable)))
(struct_definition (block [(identifier) @field (typed_expression . (identifier) @field) (assignment . [(identifier) @field (typed_expression . (identifier) @field)])]))
