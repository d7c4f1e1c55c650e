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

; What names stand for.
((import_statement) @bind (#set! role "statement"))
((export_statement source: (_)) @bind (#set! role "statement"))
(variable_declarator name: (identifier) @bind value: (call_expression function: (identifier) @word arguments: (arguments . (string (string_fragment) @required))) (#set! words "require"))
(variable_declarator name: (object_pattern) @bind value: (call_expression function: (identifier) @word arguments: (arguments . (string (string_fragment) @required))) (#set! words "require") (#set! role "picks"))
(variable_declarator name: (identifier) @bind value: (member_expression object: (call_expression function: (identifier) @word arguments: (arguments . (string (string_fragment) @required))) property: (_) @picked) (#set! words "require"))
(variable_declarator name: (identifier) @bind value: (new_expression constructor: [(identifier) (member_expression)] @made))
(variable_declarator name: (identifier) @bind value: (call_expression function: [(identifier) (member_expression)] @made))
(variable_declarator name: (identifier) @bind value: [(identifier) (member_expression)] @same)
(variable_declarator name: (identifier) @bind value: [(array) (string) (template_string) (object) (regex) (number)] @literal)
(variable_declarator name: (identifier) @bind value: [(await_expression) (subscript_expression) (binary_expression) (ternary_expression) (parenthesized_expression)])
(variable_declarator name: (identifier) @bind !value)
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @bind))
(variable_declarator name: (object_pattern (pair_pattern value: (identifier) @bind)))
(variable_declarator name: (array_pattern (identifier) @bind))
(assignment_expression left: (member_expression) @bind right: (new_expression constructor: [(identifier) (member_expression)] @made))
(assignment_expression left: (member_expression) @bind right: [(identifier) (member_expression)] @same)
(assignment_expression left: (member_expression) @bind right: (call_expression function: (identifier) @word arguments: (arguments . (string (string_fragment) @required))) (#set! words "require"))
(assignment_expression left: (member_expression) @bind right: (assignment_expression right: [(identifier) (member_expression)] @same))
(assignment_expression left: (member_expression) @bind right: (assignment_expression left: (member_expression) @same right: [(function_expression) (arrow_function)]))
(arrow_function parameter: (identifier) @bind) @within
(catch_clause parameter: (identifier) @bind) @within
(for_in_statement left: (identifier) @bind)
(export_statement value: (identifier) @bind (#set! role "default"))
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
