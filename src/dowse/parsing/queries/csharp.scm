; C#: namespaces are left out of qualified names; the base list cannot tell classes from interfaces.
(class_declaration name: (_) @name body: (_) @body) @class
(record_declaration name: (_) @name body: (_)? @body) @class
(struct_declaration name: (_) @name body: (_) @body) @struct
(interface_declaration name: (_) @name body: (_) @body) @interface
(enum_declaration name: (_) @name body: (_) @body) @enum
(delegate_declaration name: (_) @name) @type
(method_declaration name: (_) @name body: (_)? @body) @method
(constructor_declaration name: (_) @name body: (_) @body) @method
(local_function_statement name: (_) @name body: (_) @body) @function
(operator_declaration operator: _ @name body: (_) @body) @method
(property_declaration name: (_) @name accessors: (accessor_list (accessor_declaration body: (_))) @body) @method

(invocation_expression function: [(identifier) (member_access_expression) (generic_name)] @call arguments: (_) @args)
(invocation_expression function: (conditional_access_expression condition: (_) @on (member_binding_expression name: (_) @call)))
(object_creation_expression type: (_) @call arguments: (_) @args)
(object_creation_expression type: (_) @call !arguments)
(constructor_initializer ["this" "base"] @call (argument_list) @args)
(variable_declaration type: (_) @call (variable_declarator (implicit_object_creation_expression (argument_list) @args)))
(property_declaration type: (_) @call value: (implicit_object_creation_expression (argument_list) @args))
(invocation_expression function: (identifier) @word (#set! words "nameof"))
(argument (identifier) @value)
(argument (member_access_expression "this" @on name: (identifier) @value))
(assignment_expression right: (identifier) @value)
(assignment_expression right: (member_access_expression "this" @on name: (identifier) @value))
(variable_declarator (identifier) (identifier) @value)
(arrow_expression_clause (identifier) @value)
(base_list [(identifier) (qualified_name) (generic_name)] @extends)
(base_list (primary_constructor_base_type . (_) @extends))
(attribute name: (_) @attribute)
(using_directive [(identifier) (qualified_name)] @import .)

; What names stand for.
((using_directive) @bind (#set! role "statement"))
(namespace_declaration name: (_) @bind (#set! role "package"))
(file_scoped_namespace_declaration name: (_) @bind (#set! role "package"))
(parameter type: (_) @as name: (identifier) @bind)
(field_declaration (variable_declaration type: (_) @as (variable_declarator name: (identifier) @bind)))
(property_declaration type: (_) @as name: (identifier) @bind)
(variable_declaration type: (_) @as (variable_declarator name: (identifier) @bind))
(variable_declaration type: (implicit_type) (variable_declarator name: (identifier) @bind (object_creation_expression type: (_) @as)))
(variable_declaration type: (implicit_type) (variable_declarator name: (identifier) @bind [(invocation_expression) (member_access_expression) (identifier) (cast_expression) (as_expression) (await_expression) (conditional_expression) (element_access_expression) (parenthesized_expression)] @assigned))
(foreach_statement type: (implicit_type) left: (identifier) @bind right: (_) @each) @within
(invocation_expression function: (member_access_expression expression: (_) @each) arguments: (argument_list (argument (lambda_expression parameters: (implicit_parameter) @bind) @within)))
(foreach_statement type: [(identifier) (generic_name) (qualified_name) (predefined_type) (array_type) (nullable_type)] @as left: (identifier) @bind) @within
(declaration_pattern type: (_) @as name: (identifier) @bind)
(lambda_expression parameters: (implicit_parameter) @bind) @within

;; names
(field_declaration (variable_declaration (variable_declarator name: (identifier) @field)))
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @field)))
([(property_declaration name: (_) @property) (event_declaration name: (_) @property)])
(enum_member_declaration name: (_) @enumerator)
([(record_declaration (parameter_list (parameter name: (identifier) @property))) (class_declaration (parameter_list (parameter name: (identifier) @field))) (struct_declaration (parameter_list (parameter name: (identifier) @field)))])
([(namespace_declaration name: (_) @namespace) (file_scoped_namespace_declaration name: (_) @namespace)])
(using_directive name: (identifier) @alias)

;; uses
(_ type: [(identifier) @typed (generic_name . (identifier) @typed)])
(method_declaration returns: [(identifier) @typed (generic_name . (identifier) @typed)])
(type_argument_list [(identifier) @typed (generic_name . (identifier) @typed)])
(as_expression right: [(identifier) @typed (generic_name . (identifier) @typed)])
[(member_access_expression) (qualified_name) (conditional_access_expression)] @member
(identifier) @identifier
(assignment_expression left: [(identifier) (member_access_expression)] @written)
(postfix_unary_expression [(identifier) (member_access_expression)] @written)
(prefix_unary_expression [(identifier) (member_access_expression)] @written)
([(object_creation_expression initializer: (initializer_expression (assignment_expression left: (identifier) @key))) (implicit_object_creation_expression (initializer_expression (assignment_expression left: (identifier) @key)))])
(recursive_pattern (property_pattern_clause (subpattern (identifier) @key)))
