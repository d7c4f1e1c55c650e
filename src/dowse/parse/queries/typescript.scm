; TypeScript alone: types, signatures, heritage clauses.
(abstract_class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name body: (_) @body) @enum
(internal_module name: (_) @name) @scope
(module name: (identifier) @name) @scope
(function_signature name: (_) @name) @function
(abstract_method_signature name: (_) @name) @method
(public_field_definition name: (_) @name value: (arrow_function body: (_) @body)) @method
(public_field_definition name: (_) @name value: (function_expression body: (_) @body)) @method

(class_heritage (extends_clause value: [(identifier) (member_expression)] @extends))
(class_heritage (extends_clause value: (call_expression function: (_) @extends)))
(implements_clause (_) @implements)
(extends_type_clause type: (_) @extends)
