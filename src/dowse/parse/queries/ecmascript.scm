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
(import_statement (import_clause (identifier) @import) source: (string (string_fragment) @from))
(import_statement (import_clause (namespace_import (identifier) @import)) source: (string (string_fragment) @from))
(import_statement (import_clause (named_imports (import_specifier name: (_) @import))) source: (string (string_fragment) @from))
(import_statement . source: (string (string_fragment) @path))
(export_statement (export_clause (export_specifier name: (_) @import)) source: (string (string_fragment) @from))
(export_statement . source: (string (string_fragment) @path))
(call_expression function: (identifier) @word arguments: (arguments . (string (string_fragment) @path)) (#set! words "require"))
(call_expression function: (import) arguments: (arguments . (string (string_fragment) @path)))

;; top level
(lexical_declaration (variable_declarator name: (identifier) @name value: (object)) @object)
(variable_declaration (variable_declarator name: (identifier) @name value: (object)) @object)
(export_statement (lexical_declaration (variable_declarator name: (identifier) @name value: (object)) @object))
(expression_statement (assignment_expression left: (member_expression) @name right: (object)) @object)
(lexical_declaration (variable_declarator name: (identifier) @name value: [(call_expression) (new_expression) (array) (template_string)]) @constant)
(export_statement (lexical_declaration (variable_declarator name: (identifier) @name value: [(call_expression) (new_expression) (array) (template_string)]) @constant))
(export_statement value: (object) @object)
