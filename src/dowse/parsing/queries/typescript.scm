; TypeScript alone: types, signatures, heritage clauses.
(abstract_class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name body: (_) @body) @enum
(internal_module name: (_) @name) @scope
(module name: (identifier) @name) @scope
(function_signature name: (_) @name) @function
(abstract_method_signature name: (_) @name) @method
(class_body (method_signature name: (_) @name) @method)
(interface_body (method_signature name: (property_identifier) @name) @method)
(interface_body (property_signature name: (property_identifier) @name type: (type_annotation (function_type))) @method)
(type_alias_declaration value: [(object_type (method_signature name: (property_identifier) @name) @method) (generic_type type_arguments: (type_arguments (object_type (method_signature name: (property_identifier) @name) @method))) (intersection_type (object_type (method_signature name: (property_identifier) @name) @method))])
(type_alias_declaration value: [(object_type (property_signature name: (property_identifier) @name type: (type_annotation (function_type))) @method) (generic_type type_arguments: (type_arguments (object_type (property_signature name: (property_identifier) @name type: (type_annotation (function_type))) @method))) (intersection_type (object_type (property_signature name: (property_identifier) @name type: (type_annotation (function_type))) @method))])
(public_field_definition name: (_) @name value: (arrow_function body: (_) @body)) @method
(public_field_definition name: (_) @name value: (function_expression body: (_) @body)) @method

; `await f<T>()` is parsed as a call of `await f`.
(call_expression function: (await_expression [(identifier) (member_expression)] @call))
(call_expression function: (non_null_expression [(identifier) (member_expression)] @call))

(class_heritage (extends_clause value: [(identifier) (member_expression)] @extends))
(class_heritage (extends_clause value: (call_expression function: (_) @extends)))
(implements_clause (_) @implements)
(extends_type_clause type: (_) @extends)

(class_body (decorator) @decorator . (method_definition name: (property_identifier) @registered))

; What names stand for.
(arrow_function parameters: (formal_parameters [(required_parameter pattern: (identifier) @bind !type) (optional_parameter pattern: (identifier) @bind !type)])) @within
(function_expression parameters: (formal_parameters [(required_parameter pattern: (identifier) @bind !type) (optional_parameter pattern: (identifier) @bind !type)])) @within
(arrow_function parameters: (formal_parameters [(required_parameter pattern: (identifier) @bind type: (_) @as) (optional_parameter pattern: (identifier) @bind type: (_) @as)])) @within
(function_expression parameters: (formal_parameters [(required_parameter pattern: (identifier) @bind type: (_) @as) (optional_parameter pattern: (identifier) @bind type: (_) @as)])) @within
(function_declaration parameters: (formal_parameters [(required_parameter pattern: (identifier) @bind type: (_) @as) (optional_parameter pattern: (identifier) @bind type: (_) @as)]))
(function_declaration parameters: (formal_parameters [(required_parameter pattern: (identifier) @bind !type) (optional_parameter pattern: (identifier) @bind !type)]))
(method_definition parameters: (formal_parameters [(required_parameter pattern: (identifier) @bind type: (_) @as) (optional_parameter pattern: (identifier) @bind type: (_) @as)]))
(method_definition parameters: (formal_parameters [(required_parameter pattern: (identifier) @bind !type) (optional_parameter pattern: (identifier) @bind !type)]))
([(required_parameter (accessibility_modifier) pattern: (identifier) @bind type: (_) @as) (optional_parameter (accessibility_modifier) pattern: (identifier) @bind type: (_) @as) (required_parameter "readonly" pattern: (identifier) @bind type: (_) @as) (optional_parameter "readonly" pattern: (identifier) @bind type: (_) @as)] (#set! role "field"))
(required_parameter pattern: (identifier) @bind !type value: (_) @default)
(required_parameter pattern: (object_pattern) @bind type: (type_annotation) @as (#set! role "destructured"))
(call_expression function: (member_expression object: (_) @each property: (property_identifier) @word) arguments: (arguments . (arrow_function parameters: (formal_parameters . (required_parameter pattern: (identifier) @bind !type))) @within) (#set! words "forEach map filter find some every flatMap findIndex findLast sort"))
(call_expression function: (member_expression object: (_) @assigned property: (property_identifier) @word) arguments: (arguments . (arrow_function parameters: (formal_parameters . (required_parameter pattern: (identifier) @bind !type))) @within) (#set! words "then"))
(variable_declarator name: (identifier) @bind type: (type_annotation) @as)
(variable_declarator name: (identifier) @bind !type value: (_) @assigned)
(variable_declarator name: (identifier) @bind !type !value)
(public_field_definition name: (_) @bind type: (type_annotation) @as)
(public_field_definition name: (_) @bind !type value: (_) @assigned)
(property_signature name: (property_identifier) @bind type: (type_annotation) @as)
((interface_body (call_signature) @bind) (#set! role "signature"))
((type_alias_declaration value: (object_type (call_signature) @bind)) (#set! role "signature"))
((internal_module name: (identifier) @bind) (#set! role "namespace"))
((module name: (identifier) @bind) (#set! role "namespace"))

;; names
(public_field_definition name: (_) @field)
(property_signature name: (_) @property)
(enum_body [name: (_) @enumerator (enum_assignment name: (_) @enumerator)])
([(required_parameter (accessibility_modifier) pattern: (identifier) @own_field) (required_parameter "readonly" pattern: (identifier) @own_field) (optional_parameter (accessibility_modifier) pattern: (identifier) @own_field)])
(internal_module name: (_) @namespace)
(module name: (identifier) @namespace)

;; uses
(type_identifier) @identifier
(nested_type_identifier) @member
