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

;; top level
(property_declaration (variable_declaration (identifier) @name)) @constant
