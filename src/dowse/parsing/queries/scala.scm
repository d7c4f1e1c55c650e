; Scala.
(class_definition name: (_) @name body: (_)? @body) @class
(object_definition name: (_) @name body: (_)? @body) @class
(trait_definition name: (_) @name body: (_)? @body) @trait
(enum_definition name: (_) @name body: (_)? @body) @enum
(function_definition name: (_) @name body: (_) @body) @function
(function_declaration name: (_) @name) @function
(given_definition name: (_) @name body: (_)? @body) @constant

(call_expression function: [(identifier) (field_expression) (generic_function)] @call)
(field_expression value: (_) @on field: (identifier) @call)
(infix_expression left: (_) @on operator: (identifier) @call)
(identifier) @bare
(instance_expression . [(type_identifier) (generic_type) (stable_type_identifier)] @base (template_body) @class (#set! role "anonymous"))
(instance_expression [(type_identifier) (generic_type) (stable_type_identifier)] @call)
(extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @extends)
(annotation name: (_) @use)
(import_declaration) @imports

; What names stand for.
((import_declaration) @bind (#set! role "statement"))
(package_clause name: (_) @bind (#set! role "package"))
(class_parameter name: (identifier) @bind type: (_) @as)
(parameter name: (identifier) @bind type: (_) @as)
(binding name: (identifier) @bind type: (_) @as)
(val_definition pattern: (identifier) @bind type: (_) @as)
(var_definition pattern: (identifier) @bind type: (_) @as)
(val_declaration name: (identifier) @bind type: (_) @as)
(var_declaration name: (identifier) @bind type: (_) @as)
(val_definition pattern: (identifier) @bind !type value: (_) @assigned)
(var_definition pattern: (identifier) @bind !type value: (_) @assigned)
(case_clause pattern: (typed_pattern pattern: (identifier) @bind type: (_) @as)) @within
(case_clause pattern: (capture_pattern name: (identifier) @bind pattern: (typed_pattern type: (_) @as))) @within
(case_clause pattern: (identifier) @bind) @within
(case_class_pattern pattern: (identifier) @bind)
(tuple_pattern (identifier) @bind)
(enumerator . (identifier) @bind "<-" (_) @each .)
(enumerator . (identifier) @bind "=" (_) @assigned .)
(lambda_expression parameters: (identifier) @bind) @within
(function_definition name: (_) @bind !return_type body: [(call_expression) (field_expression) (identifier) (instance_expression) (if_expression) (match_expression)] @assigned (#set! role "result"))
(function_definition name: (_) @bind !return_type body: (block (_) @assigned .) (#set! role "result"))

;; top level
(type_definition name: (_) @name) @type
(val_definition pattern: (identifier) @name) @constant

;; names
([(val_definition pattern: [(identifier) @variable (tuple_pattern (identifier) @variable)]) (var_definition pattern: [(identifier) @variable (tuple_pattern (identifier) @variable)]) (val_declaration name: (identifier) @variable) (var_declaration name: (identifier) @variable)])
(class_parameter name: (identifier) @field)
([(simple_enum_case name: (_) @enumerator) (full_enum_case name: (_) @enumerator)])
(type_definition name: (_) @alias)
(given_definition name: (_) @constant)
([(package_clause name: (_) @namespace) (package_object name: (_) @namespace)])
([(lambda_expression) @local (val_definition value: (block) @local) (var_definition value: (block) @local) (case_block) @local])

;; uses
[(field_expression) (stable_type_identifier)] @member
[(identifier) (type_identifier)] @identifier
(assignment_expression left: [(identifier) (field_expression)] @written)
