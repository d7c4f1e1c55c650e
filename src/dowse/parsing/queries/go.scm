; Go: the receiver is the qualifier of a method.
(function_declaration name: (identifier) @name body: (block)? @body) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @receiver)) name: (_) @name body: (block)? @body) @method
(type_declaration (type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @struct)
(type_declaration (type_spec name: (_) @name type: (interface_type)) @interface)
(type_spec type: (interface_type (method_elem name: (_) @name) @method))
(type_declaration (type_spec name: (_) @name type: [(type_identifier) (qualified_type) (pointer_type) (function_type) (map_type) (slice_type) (array_type) (channel_type) (generic_type)]) @type)
(type_declaration (type_alias name: (_) @name) @type)

(call_expression function: [(identifier) (selector_expression) (index_expression)] @call)
; Functions as values: in arguments, in fields, in variables.
(argument_list (identifier) @value)
(argument_list (selector_expression operand: (_) @on field: (_) @value))
(keyed_element (literal_element) (literal_element (identifier) @value))
(keyed_element (literal_element) (literal_element (selector_expression operand: (_) @on field: (_) @value)))
(composite_literal type: [(type_identifier) (qualified_type) (generic_type)] @call)
(type_conversion_expression type: (generic_type) @call)
(struct_type (field_declaration_list (field_declaration !name type: (_) @extends)))
(interface_type (type_elem . [(type_identifier) (qualified_type)] @extends .))
(import_spec path: (interpreted_string_literal (_) @path))

; What names stand for.
((import_spec) @bind (#set! role "statement"))
(package_clause (package_identifier) @bind (#set! role "package"))
(parameter_declaration name: (identifier) @bind type: (_) @as (#set! role "let"))
(variadic_parameter_declaration name: (identifier) @bind "..." @variadic type: (_) @as (#set! role "let"))
(short_var_declaration left: (expression_list (identifier) @bind) right: (_) @assigned (#set! role "let"))
(var_spec name: (identifier) @bind type: (_) @as (#set! role "let"))
(var_spec name: (identifier) @bind !type value: (_) @assigned (#set! role "let"))
(range_clause left: (expression_list (identifier) @bind) right: (_) @each (#set! role "let"))
(receive_statement left: (expression_list (identifier) @bind) right: (_) @assigned (#set! role "let"))
(type_switch_statement alias: (expression_list (identifier) @bind) (type_case . type: (_) @as . ":") @within)
(type_switch_statement alias: (expression_list (identifier) @bind))
(type_parameter_declaration name: (identifier) @bind type: (type_constraint) @as (#set! role "bound"))
(field_declaration name: (field_identifier) @bind type: (_) @as)

;; top level
(const_declaration "(" . (const_spec . name: (_) @name)) @constant
(var_declaration (var_spec . name: (_) @name)) @constant
(var_declaration (var_spec_list . (var_spec . name: (_) @name))) @constant

;; names
(const_spec (identifier) @constant)
(var_spec name: (identifier) @variable)
(field_declaration name: (field_identifier) @field)
(field_declaration !name type: [(type_identifier) @field (qualified_type name: (_) @field) (generic_type type: (type_identifier) @field)])
(field_declaration tag: (_) @tag)
(package_clause (package_identifier) @namespace)
(import_spec name: (package_identifier) @alias)
(func_literal body: (_) @local)

;; uses
[(selector_expression) (qualified_type)] @member
[(identifier) (type_identifier)] @identifier
(assignment_statement left: (expression_list [(identifier) (selector_expression)] @written))
(inc_statement [(identifier) (selector_expression)] @written)
(dec_statement [(identifier) (selector_expression)] @written)
(keyed_element . (literal_element (identifier) @key))
