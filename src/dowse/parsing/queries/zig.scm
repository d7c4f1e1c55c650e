; Zig: a container is a constant that holds one.
(function_declaration name: (identifier) @name body: (_)? @body) @function
(variable_declaration (identifier) @name [(struct_declaration) (opaque_declaration) (union_declaration)] @body) @struct
(variable_declaration (identifier) @name [(enum_declaration) (error_set_declaration)] @body) @enum
(test_declaration [(string) (identifier)] @name (block) @body) @function

(call_expression function: [(identifier) (field_expression)] @call)
(builtin_function (builtin_identifier) @word (arguments (string (string_content) @path)) (#set! words "@import"))

;; names
(variable_declaration "const" . (identifier) @constant)
(variable_declaration "var" . (identifier) @variable)
(container_field name: (_) @field)
(error_set_declaration (identifier) @enumerator)
