; Scala.
(class_definition name: (_) @name body: (_)? @body) @class
(object_definition name: (_) @name body: (_)? @body) @class
(trait_definition name: (_) @name body: (_)? @body) @trait
(enum_definition name: (_) @name body: (_)? @body) @enum
(function_definition name: (_) @name body: (_) @body) @function
(function_declaration name: (_) @name) @function
(given_definition name: (_) @name body: (_)? @body) @constant

(call_expression function: [(identifier) (field_expression) (generic_function)] @call)
(instance_expression [(type_identifier) (generic_type) (stable_type_identifier)] @call)
(extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @extends)
(annotation name: (_) @use)
(import_declaration) @imports

; What names stand for.
((import_declaration) @bind (#set! role "statement"))
(package_clause name: (_) @bind (#set! role "package"))
(class_parameter name: (identifier) @bind type: (_) @as)
(parameter name: (identifier) @bind type: (_) @as)
(val_definition pattern: (identifier) @bind type: (_) @as)
(val_definition pattern: (identifier) @bind !type value: (instance_expression . (_) @made))
(val_definition pattern: (identifier) @bind !type value: (call_expression function: [(identifier) (field_expression)] @made))

;; top level
(type_definition name: (_) @name) @type
(val_definition pattern: (identifier) @name) @constant
