; Java.
(class_declaration name: (_) @name body: (_) @body) @class
(record_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(annotation_type_declaration name: (_) @name body: (_) @body) @interface
(enum_declaration name: (_) @name body: (_) @body) @enum
(method_declaration name: (_) @name body: (_)? @body) @method
(constructor_declaration name: (_) @name body: (_) @body) @method
(compact_constructor_declaration name: (_) @name body: (_) @body) @method

(object_creation_expression type: (_) @base (class_body) @class (#set! role "anonymous"))

(method_invocation object: (_) @on name: (_) @call arguments: (_) @args)
(method_invocation !object name: (_) @call arguments: (_) @args)
(object_creation_expression type: (_) @call arguments: (_) @args)
(explicit_constructor_invocation constructor: [(this) (super)] @call arguments: (_) @args)
(method_reference . (_) @on (identifier) @value .)
(method_reference (_) @value "new")
(superclass (_) @extends)
(super_interfaces (type_list (_) @implements))
(extends_interfaces (type_list (_) @extends))
(marker_annotation name: (_) @use)
(annotation name: (_) @use)
(import_declaration [(scoped_identifier) (identifier)] @import)

; What names stand for.
((import_declaration) @bind (#set! role "statement"))
(package_declaration [(scoped_identifier) (identifier)] @bind (#set! role "package"))
(formal_parameter type: (_) @as name: (identifier) @bind)
(spread_parameter (variable_declarator name: (identifier) @bind) @literal)
(catch_formal_parameter name: (identifier) @bind)
(local_variable_declaration type: (_) @as declarator: (variable_declarator name: (identifier) @bind))
(local_variable_declaration type: (type_identifier) @word declarator: (variable_declarator name: (identifier) @bind value: (object_creation_expression type: (_) @as)) (#set! words "var"))
(local_variable_declaration type: (type_identifier) @word declarator: (variable_declarator name: (identifier) @bind value: [(method_invocation) (field_access) (identifier) (cast_expression) (ternary_expression) (parenthesized_expression)] @assigned) (#set! words "var"))
(enhanced_for_statement type: (type_identifier) @word name: (identifier) @bind value: (_) @each (#set! words "var"))
(enum_constant name: (identifier) @bind (#set! role "own"))
(method_invocation object: (_) @each arguments: (argument_list (lambda_expression parameters: (identifier) @bind) @within))
(field_declaration type: (_) @as declarator: (variable_declarator name: (identifier) @bind))
(enhanced_for_statement type: (_) @as name: (identifier) @bind)
(resource type: (_) @as name: (identifier) @bind)
(lambda_expression parameters: (identifier) @bind) @within
(lambda_expression parameters: (inferred_parameters (identifier) @bind)) @within
(instanceof_expression right: (_) @as name: (identifier) @bind)
(record_declaration parameters: (formal_parameters (formal_parameter type: (_) @as name: (identifier) @bind)))

;; names
([(field_declaration declarator: (variable_declarator name: (identifier) @field)) (constant_declaration declarator: (variable_declarator name: (identifier) @constant))])
(enum_constant name: (identifier) @enumerator)
(record_declaration parameters: (formal_parameters (formal_parameter name: (identifier) @field)))
(annotation_type_element_declaration name: (identifier) @property)
(package_declaration (_) @namespace)

;; uses
[(field_access) (scoped_type_identifier)] @member
[(identifier) (type_identifier)] @identifier
(assignment_expression left: [(identifier) (field_access)] @written)
(update_expression [(identifier) (field_access)] @written)
