; Go: the receiver is the qualifier of a method.
(function_declaration name: (identifier) @name body: (block)? @body) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @receiver)) name: (_) @name body: (block)? @body) @method
(type_declaration (type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @struct)
(type_declaration (type_spec name: (_) @name type: (interface_type)) @interface)
(type_declaration (type_spec name: (_) @name type: [(type_identifier) (qualified_type) (pointer_type) (function_type) (map_type) (slice_type) (array_type) (channel_type) (generic_type)]) @type)
(type_declaration (type_alias name: (_) @name) @type)

(call_expression function: [(identifier) (selector_expression) (index_expression)] @call)
(composite_literal type: [(type_identifier) (qualified_type) (generic_type)] @call)
(type_conversion_expression type: (generic_type) @call)
(struct_type (field_declaration_list (field_declaration !name type: (_) @extends)))
(interface_type (type_elem . [(type_identifier) (qualified_type)] @extends .))
(import_spec path: (interpreted_string_literal (_) @path))

;; top level
(const_declaration "(" . (const_spec name: (_) @name)) @constant
(var_declaration (var_spec name: (_) @name)) @constant
(var_declaration (var_spec_list . (var_spec name: (_) @name))) @constant
