; PHP: namespaces are left out of qualified names, like Java's packages.
(function_definition name: (_) @name body: (_) @body) @function
(method_declaration name: (_) @name body: (_)? @body) @method
(class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(trait_declaration name: (_) @name body: (_) @body) @trait
(enum_declaration name: (_) @name body: (_) @body) @enum

(function_call_expression function: [(name) (qualified_name)] @call)
(member_call_expression object: (_) @on name: (name) @call)
(nullsafe_member_call_expression object: (_) @on name: (name) @call)
(scoped_call_expression scope: (_) @on name: (name) @call)
(object_creation_expression [(name) (qualified_name)] @call)
(array_creation_expression . (array_element_initializer . [(variable_name) (class_constant_access_expression) (member_access_expression)] @on .) . (array_element_initializer . (string (string_content) @value) .) .)
(argument (string (string_content) @value) (#match? @value "^\\\\?[A-Z][A-Za-z0-9_\\\\]*::[a-z_A-Z0-9]+$") (#set! role "path"))
(base_clause (_) @extends)
(class_interface_clause (_) @implements)
(use_declaration [(name) (qualified_name)] @implements)
(attribute . (_) @use)
(namespace_use_declaration (namespace_use_clause . [(name) (qualified_name)] @import))
(namespace_use_declaration (namespace_name) @from body: (namespace_use_group (namespace_use_clause . (_) @import)))

; What names stand for.
((namespace_use_declaration) @bind (#set! role "statement"))
(namespace_definition name: (_) @bind (#set! role "package"))
(simple_parameter type: (_) @as name: (_) @bind)
(simple_parameter !type name: (_) @bind)
(property_promotion_parameter type: (_) @as name: (_) @bind (#set! role "field"))
(property_declaration type: (_) @as (property_element name: (_) @bind))
(property_declaration !type (property_element name: (_) @bind default_value: (_) @assigned))
(assignment_expression left: [(variable_name) (member_access_expression) (scoped_property_access_expression)] @bind right: (_) @assigned)
(augmented_assignment_expression left: [(variable_name) (member_access_expression) (scoped_property_access_expression)] @bind operator: "??=" right: (_) @assigned)
(foreach_statement . (_) @each (variable_name) @bind body: (_))
(foreach_statement . (_) @each (pair (_) (variable_name) @bind) body: (_))
(catch_clause type: (_) @as name: (_) @bind)
(binary_expression left: (variable_name) @bind operator: "instanceof" right: [(name) (qualified_name)] @as (#set! role "narrowed"))
(enum_case name: (name) @bind (#set! role "own"))
(use_as_clause . (_) @same (name) @bind . (#set! role "adapted"))
(use_instead_of_clause . (class_constant_access_expression (name) @bind .) @same (#set! role "adapted"))
((return_statement (_) @assigned) @bind (#set! role "result"))
((comment) @bind (#set! role "documented"))

;; names
(const_element . (name) @constant)
(property_element name: (variable_name (name) @field))
(property_promotion_parameter name: (variable_name (name) @own_field))
(enum_case name: (name) @enumerator)
(assignment_expression left: (variable_name (name) @variable))
(assignment_expression left: (member_access_expression object: (variable_name) @_this name: (name) @own_field) (#eq? @_this "$this"))
(function_call_expression function: (name) @_define arguments: (arguments . (argument [(encapsed_string (string_content) @constant) (string (string_content) @constant)])) (#eq? @_define "define"))
(namespace_definition name: (_) @namespace)
(namespace_use_clause alias: (name) @alias)
([(anonymous_function body: (_) @local) (arrow_function body: (_) @local)])

;; uses
[(member_access_expression) (nullsafe_member_access_expression) (scoped_property_access_expression) (class_constant_access_expression)] @member
(name) @identifier
(variable_name (name) @no_use)
(assignment_expression left: [(member_access_expression) (scoped_property_access_expression)] @written)
