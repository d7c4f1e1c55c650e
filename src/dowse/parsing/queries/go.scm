; Go: the receiver is the qualifier of a method.
(function_declaration name: (identifier) @name body: (block)? @body) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @receiver)) name: (_) @name body: (block)? @body) @method
(type_declaration (type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @struct)
(type_declaration (type_spec name: (_) @name type: (interface_type)) @interface)
(type_spec type: (interface_type (method_elem name: (_) @name) @method))
(type_declaration (type_spec name: (_) @name type: [(type_identifier) (qualified_type) (pointer_type) (function_type) (map_type) (slice_type) (array_type) (channel_type) (generic_type)]) @type)
(type_declaration (type_alias name: (_) @name) @type)

(call_expression function: [(identifier) (selector_expression) (index_expression)] @call)
(composite_literal type: [(type_identifier) (qualified_type) (generic_type)] @call)
(type_conversion_expression type: (generic_type) @call)
(struct_type (field_declaration_list (field_declaration !name type: (_) @extends)))
(interface_type (type_elem . [(type_identifier) (qualified_type)] @extends .))
(import_spec path: (interpreted_string_literal (_) @path))

; What names stand for.
((import_spec) @bind (#set! role "statement"))
(package_clause (package_identifier) @bind (#set! role "package"))
(parameter_declaration name: (identifier) @bind type: (_) @as)
(variadic_parameter_declaration name: (identifier) @bind)
(short_var_declaration left: (expression_list . (identifier) @bind) right: (expression_list . (unary_expression operand: (composite_literal type: (_) @as))))
(short_var_declaration left: (expression_list . (identifier) @bind) right: (expression_list . (composite_literal type: (_) @as)))
(short_var_declaration left: (expression_list . (identifier) @bind) right: (expression_list . (call_expression function: [(identifier) (selector_expression)] @made)))
(short_var_declaration left: (expression_list . (identifier) @bind) right: (expression_list . [(identifier) (selector_expression)] @same))
(short_var_declaration left: (expression_list . (identifier) @bind) right: (expression_list . [(index_expression) (binary_expression) (func_literal) (type_assertion_expression) (slice_expression)]))
(short_var_declaration left: (expression_list . (identifier) @bind) right: (expression_list . [(interpreted_string_literal) (raw_string_literal) (int_literal)] @literal))
(short_var_declaration left: (expression_list (_) (identifier) @bind))
(var_spec name: (identifier) @bind type: (_) @as)
(var_spec name: (identifier) @bind !type value: (expression_list . (call_expression function: [(identifier) (selector_expression)] @made)))
(var_spec name: (identifier) @bind !type value: (expression_list . (unary_expression operand: (composite_literal type: (_) @as))))
(var_spec name: (identifier) @bind !type value: (expression_list . (composite_literal type: (_) @as)))
(range_clause left: (expression_list (identifier) @bind))
(field_declaration name: (field_identifier) @bind type: (_) @as)

;; top level
(const_declaration "(" . (const_spec name: (_) @name)) @constant
(var_declaration (var_spec name: (_) @name)) @constant
(var_declaration (var_spec_list . (var_spec name: (_) @name))) @constant
