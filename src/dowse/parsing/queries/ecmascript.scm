; What JavaScript and TypeScript share.
(function_declaration name: (_) @name body: (_) @body) @function
(generator_function_declaration name: (_) @name body: (_) @body) @function
(variable_declarator name: (identifier) @name value: (arrow_function body: (_) @body)) @function
(variable_declarator name: (identifier) @name value: (function_expression body: (_) @body)) @function
(variable_declarator name: (identifier) @name value: (generator_function body: (_) @body)) @function
(assignment_expression left: (_) @name right: (arrow_function body: (_) @body)) @function
(assignment_expression left: (_) @name right: (function_expression body: (_) @body)) @function
(method_definition name: (_) @name body: (_) @body) @method
(pair key: (_) @name value: (arrow_function body: (_) @body)) @member
(pair key: (_) @name value: (function_expression body: (_) @body)) @member

(class_declaration name: (_) @name body: (_) @body) @class
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class
(assignment_expression left: (_) @name right: (class body: (_) @body)) @class


(decorator) @lead
(decorator [(identifier) (member_expression)] @use)
(decorator (call_expression function: (_) @use))
(call_expression function: [(identifier) (member_expression)] @call)
(new_expression constructor: [(identifier) (member_expression)] @call)
; The module comes after the names. One pattern for both would wait for it with every name, in cubic time.
(import_statement source: (string (string_fragment) @from)) @import_statement
(export_statement source: (string (string_fragment) @from)) @import_statement
(import_clause (identifier) @imported_name)
(import_clause (namespace_import (identifier) @imported_name))
(import_specifier name: (_) @imported_name)
(export_specifier name: (_) @imported_name)
(import_statement . source: (string (string_fragment) @path))
(export_statement . source: (string (string_fragment) @path))
(call_expression function: (identifier) @word arguments: (arguments . (string (string_fragment) @path)) (#set! words "require"))
(call_expression function: (import) arguments: (arguments . (string (string_fragment) @path)))

; Functions as values: arguments, tables, what a decorator is given.
([(arguments (identifier) @value) (pair value: (identifier) @value) (array (identifier) @value) (assignment_expression right: (identifier) @value) (return_statement (identifier) @value) (shorthand_property_identifier) @value])
([(arguments (member_expression object: (this) @on property: (property_identifier) @value)) (pair value: (member_expression object: (this) @on property: (property_identifier) @value)) (return_statement (member_expression object: (this) @on property: (property_identifier) @value))])

; What names stand for.
((import_statement) @bind (#set! role "statement"))
((export_statement source: (_)) @bind (#set! role "statement"))
(variable_declarator name: (identifier) @bind value: (call_expression function: (identifier) @word arguments: (arguments . (string (string_fragment) @required))) (#set! words "require"))
(variable_declarator name: (object_pattern) @bind value: (call_expression function: (identifier) @word arguments: (arguments . (string (string_fragment) @required))) (#set! words "require") (#set! role "picks"))
(variable_declarator name: (identifier) @bind value: (member_expression object: (call_expression function: (identifier) @word arguments: (arguments . (string (string_fragment) @required))) property: (_) @picked) (#set! words "require"))
(variable_declarator name: (object_pattern) @bind value: (_) @assigned (#set! role "destructured"))
(variable_declarator name: (array_pattern (identifier) @bind))
(assignment_expression left: (member_expression) @bind right: [(new_expression) (identifier) (member_expression) (call_expression) (await_expression) (ternary_expression) (binary_expression) (array)] @assigned)
(assignment_expression left: (identifier) @bind right: [(new_expression) (call_expression) (await_expression)] @assigned)
(assignment_expression left: (member_expression) @bind right: (call_expression function: (identifier) @word arguments: (arguments . (string (string_fragment) @required))) (#set! words "require"))
(assignment_expression left: (member_expression) @bind right: (assignment_expression right: [(identifier) (member_expression)] @same))
(assignment_expression left: (member_expression) @bind right: (assignment_expression left: (member_expression) @same right: [(function_expression) (arrow_function)]))
(arrow_function parameter: (identifier) @bind) @within
(catch_clause parameter: (identifier) @bind) @within
(for_in_statement left: (identifier) @bind operator: "of" right: (_) @each (#set! role "loop"))
(for_in_statement left: (identifier) @bind operator: "in")
(for_in_statement left: (array_pattern (identifier) @bind))
(binary_expression left: (identifier) @bind operator: "instanceof" right: (_) @as (#set! role "narrowed"))
((return_statement (_) @assigned) @bind (#set! role "result"))
(arrow_function body: [(call_expression) (new_expression) (identifier) (member_expression) (await_expression) (parenthesized_expression) (ternary_expression)] @assigned @bind (#set! role "result"))
(object (pair key: (property_identifier) @bind value: [(identifier) (member_expression) (new_expression) (call_expression)] @assigned) (#set! role "property"))
(object (shorthand_property_identifier) @bind @assigned (#set! role "property"))
(call_expression function: (member_expression object: (_) @each property: (property_identifier) @word) arguments: (arguments . (arrow_function parameter: (identifier) @bind) @within) (#set! words "forEach map filter find some every flatMap findIndex findLast sort"))
(call_expression function: (member_expression object: (_) @assigned property: (property_identifier) @word) arguments: (arguments . (arrow_function parameter: (identifier) @bind) @within) (#set! words "then"))
(export_statement value: (_) @bind @assigned (#set! role "default"))
(export_statement "default" [(function_declaration name: (_) @bind) (class_declaration name: (_) @bind)] (#set! role "default"))
(export_statement (export_clause (export_specifier name: (_) @same alias: (_) @bind)) !source (#set! role "export"))

;; top level
(lexical_declaration (variable_declarator name: (identifier) @name value: (object)) @object)
(variable_declaration (variable_declarator name: (identifier) @name value: (object)) @object)
(export_statement (lexical_declaration (variable_declarator name: (identifier) @name value: (object)) @object))
(expression_statement (assignment_expression left: (member_expression) @name right: (object)) @object)
(lexical_declaration (variable_declarator name: (identifier) @name value: [(call_expression) (new_expression) (array) (template_string)]) @constant)
(export_statement (lexical_declaration (variable_declarator name: (identifier) @name value: [(call_expression) (new_expression) (array) (template_string)]) @constant))
(export_statement value: (object) @object)

;; names
(lexical_declaration kind: "const" (variable_declarator name: (identifier) @constant))
(lexical_declaration kind: "let" (variable_declarator name: (identifier) @variable))
(variable_declaration (variable_declarator name: (identifier) @variable))
(variable_declarator name: [(object_pattern [(shorthand_property_identifier_pattern) @variable (pair_pattern value: (identifier) @variable)]) (array_pattern (identifier) @variable)] value: (_) @_value (#not-match? @_value "^require\\b"))
(pair key: (property_identifier) @property)
(assignment_expression left: (member_expression object: (this) property: [(property_identifier) (private_property_identifier)] @own_field))
(assignment_expression left: (member_expression object: [(identifier) (member_expression)]) @property)
(pair_pattern value: (object_pattern [(shorthand_property_identifier_pattern) @variable (pair_pattern value: (identifier) @variable)]))
([(function_expression name: (_) @function) (generator_function name: (_) @function) (class name: (_) @class)])
([(arrow_function) @local (function_expression) @local])

;; uses
(member_expression) @member
[(identifier) (shorthand_property_identifier)] @identifier
(assignment_expression left: [(identifier) (member_expression)] @written)
(augmented_assignment_expression left: [(identifier) (member_expression)] @written)
(update_expression argument: [(identifier) (member_expression)] @written)
(pair_pattern key: (property_identifier) @picked)
