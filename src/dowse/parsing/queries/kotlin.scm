; Kotlin: a called supertype is a class, the others may be either.
(class_declaration "class" name: (_) @name [(class_body) (enum_class_body)]? @body) @class
(class_declaration "interface" name: (_) @name (class_body)? @body) @interface
(object_declaration name: (_) @name (class_body)? @body) @class
(function_declaration name: (_) @name (function_body)? @body) @function
(type_alias type: (_) @name) @type

(call_expression . [(identifier) (navigation_expression)] @call)
(delegation_specifier (constructor_invocation (user_type) @extends))
(delegation_specifier (user_type) @extends)
(annotation [(user_type) @use (constructor_invocation (user_type) @use)])
(import (qualified_identifier) @import)

; What names stand for.
((import) @bind (#set! role "statement"))
(package_header (qualified_identifier) @bind (#set! role "package"))
(class_parameter (identifier) @bind (_) @as)
(function_value_parameters (parameter (identifier) @bind (_) @as))
(variable_declaration (identifier) @bind (_) @as)
(property_declaration (variable_declaration . (identifier) @bind .) (call_expression . [(identifier) (navigation_expression)] @made))
(lambda_parameters (variable_declaration (identifier) @bind .))

;; top level
(property_declaration (variable_declaration (identifier) @name)) @constant
