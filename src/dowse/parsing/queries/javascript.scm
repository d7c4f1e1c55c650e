; JavaScript alone: class fields and plain heritage.
(field_definition property: (_) @name value: (arrow_function body: (_) @body)) @method
(field_definition property: (_) @name value: (function_expression body: (_) @body)) @method
(class_heritage [(identifier) (member_expression)] @extends)
(class_heritage (call_expression function: (_) @extends))

; What names stand for.
(arrow_function parameters: (formal_parameters (identifier) @bind)) @within
(function_expression parameters: (formal_parameters (identifier) @bind)) @within
(function_declaration parameters: (formal_parameters (identifier) @bind))
(method_definition parameters: (formal_parameters (identifier) @bind))
(formal_parameters (assignment_pattern left: (identifier) @bind right: (_) @default))
(call_expression function: (member_expression object: (_) @each property: (property_identifier) @word) arguments: (arguments . (arrow_function parameters: (formal_parameters . (identifier) @bind)) @within) (#set! words "forEach map filter find some every flatMap findIndex findLast sort"))
(formal_parameters (object_pattern (shorthand_property_identifier_pattern) @bind))
(field_definition property: (_) @bind value: (_) @assigned)
(variable_declarator name: (identifier) @bind value: (_) @assigned)
(variable_declarator name: (identifier) @bind !value)

;; names
(field_definition property: (_) @field)
