; Solidity.
(contract_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(library_declaration name: (_) @name body: (_) @body) @class
(struct_declaration name: (_) @name body: (_) @body) @struct
(enum_declaration name: (_) @name body: (_) @body) @enum
(function_definition name: (_) @name body: (_)? @body) @function
(modifier_definition name: (_) @name body: (_) @body) @function
(constructor_definition "constructor" @name body: (_) @body) @method

(call_expression function: (expression [(identifier) (member_expression)] @call))
(emit_statement name: (expression (identifier) @call))
(modifier_invocation . (identifier) @call)
(inheritance_specifier ancestor: (_) @extends)
(import_directive source: (_) @path)

;; names
(constant_variable_declaration name: (_) @constant)
(state_variable_declaration name: (_) @field)
(struct_member name: (_) @field)
(enum_value) @enumerator
(event_definition name: (_) @property)
(error_declaration name: (_) @property)
(user_defined_type_definition name: (_) @alias)
