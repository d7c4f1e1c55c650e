; Kotlin: a called supertype is a class, the others may be either.
(class_declaration "class" name: (_) @name [(class_body) (enum_class_body)]? @body) @class
(class_declaration "interface" name: (_) @name (class_body)? @body) @interface
(object_declaration name: (_) @name (class_body)? @body) @class
(function_declaration name: (_) @name (function_body)? @body) @function
(type_alias type: (_) @name) @type
(object_literal (delegation_specifiers (delegation_specifier [(user_type) @base (constructor_invocation (user_type) @base)])) (class_body) @class (#set! role "anonymous"))

(call_expression . [(identifier) (navigation_expression)] @call (annotated_lambda) @trailing)
(call_expression . [(identifier) (navigation_expression)] @call (value_arguments) @args)
(call_expression . (call_expression . [(identifier) (navigation_expression)] @call (value_arguments) @args) (annotated_lambda) @trailing)
; `f<T>(x)`, which the grammar takes for two comparisons.
(binary_expression (binary_expression . [(identifier) (navigation_expression)] @call "<") ">" (parenthesized_expression) @args)
(binary_expression (binary_expression . [(identifier) (navigation_expression)] @call "<") ">" (lambda_literal) @trailing)
(infix_expression . (_) @on . (identifier) @call)
(constructor_delegation_call ["this" "super"] @call)
(delegation_specifier (constructor_invocation (user_type) @extends))
(delegation_specifier [(user_type) @extends (explicit_delegation . (user_type) @extends)])
(annotation [(user_type) @use (constructor_invocation (user_type) @use)])
(import (qualified_identifier) @import)

; What names stand for.
((import) @bind (#set! role "statement"))
(package_header (qualified_identifier) @bind (#set! role "package"))
(class_parameter (identifier) @bind (_) @as)
(function_value_parameters (parameter (identifier) @bind (_) @as))
(function_declaration [(user_type) (nullable_type)] @as . name: (_) @bind (#set! role "receiver"))
(variable_declaration (identifier) @bind (_) @as)
(property_declaration (variable_declaration . (identifier) @bind .) "=" . (_) @assigned)
(property_declaration (variable_declaration . (identifier) @bind .) (property_delegate (call_expression) @assigned))
(property_declaration (variable_declaration . (identifier) @bind .) (getter (function_body "=" . (_) @assigned)))
(function_declaration (function_body "=" . (_) @assigned @bind) (#set! role "result"))
(for_statement (variable_declaration . (identifier) @bind .) . (_) @each (#set! role "loop"))
(enum_entry . (identifier) @bind (#set! role "own"))
(catch_block (identifier) @bind (user_type) @as) @within
(is_expression left: (identifier) @bind right: (_) @as (#set! role "narrowed"))
(when_expression (when_subject [(identifier) @bind (variable_declaration . (identifier) @bind .)]) (when_entry condition: (type_test "is" (_) @as)) @within)
(when_subject (variable_declaration . (identifier) @bind .) . (_) @assigned)
(lambda_parameters (variable_declaration (identifier) @bind .))
(call_expression . [(identifier) (navigation_expression)] @called (annotated_lambda (lambda_literal) @bind @within) (#set! role "lambda"))
(call_expression . (call_expression . [(identifier) (navigation_expression)] @called (value_arguments)) (annotated_lambda (lambda_literal) @bind @within) (#set! role "lambda"))

;; top level
(property_declaration (variable_declaration (identifier) @name)) @constant

;; names
(property_declaration [(variable_declaration . (identifier) @variable) (multi_variable_declaration (variable_declaration . (identifier) @variable))])
(class_parameter ["val" "var"] (identifier) @field)
(enum_entry (identifier) @enumerator)
(package_header (qualified_identifier) @namespace)
(import (identifier) @alias)
([(lambda_literal) @local (anonymous_initializer) @local (getter) @local (setter) @local (secondary_constructor) @local (anonymous_function) @local])

;; uses
(navigation_expression) @member
(identifier) @identifier
(assignment left: [(identifier) (navigation_expression)] @written)
