; C, and the part of it that C++ keeps. Prototypes stay in the text around them.
(function_definition declarator: (function_declarator declarator: (_) @name) body: (_) @body) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name)) body: (_) @body) @function
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name))) body: (_) @body) @function
(struct_specifier name: (_) @name body: (_) @body) @struct
(union_specifier name: (_) @name body: (_) @body) @struct
(enum_specifier name: (_) @name body: (_) @body) @enum
(type_definition type: (struct_specifier body: (_) @body) declarator: (type_identifier) @name) @struct
(type_definition type: (union_specifier body: (_) @body) declarator: (type_identifier) @name) @struct
(type_definition type: (enum_specifier body: (_) @body) declarator: (type_identifier) @name) @enum
(preproc_function_def name: (_) @name value: (_)? @body) @macro

(call_expression function: [(identifier) (field_expression)] @call)
(preproc_include path: (_) @path)

;; top level
(declaration declarator: (init_declarator declarator: (_) @name value: (initializer_list))) @constant
