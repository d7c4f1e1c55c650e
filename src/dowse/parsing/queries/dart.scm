; Dart: a body is the sibling of its signature.
(class_definition name: (_) @name body: (_) @body) @class
(mixin_declaration (identifier) @name (class_body) @body) @trait
(extension_declaration name: (_) @name body: (_) @body) @class
(enum_declaration name: (_) @name body: (_) @body) @enum
(type_alias . (type_identifier) @name) @type
(program (function_signature name: (_) @name) @function . (function_body) @body)
(program (getter_signature name: (_) @name) @function . (function_body) @body)
(_ (method_signature [(function_signature name: (_) @name) (getter_signature name: (_) @name) (setter_signature name: (_) @name) (constructor_signature name: (identifier) @name . parameters: (_)) (factory_constructor_signature (identifier) @name . (formal_parameter_list))]) @method . (function_body) @body)
(declaration [(function_signature name: (_) @name) (getter_signature name: (_) @name) (constructor_signature name: (identifier) @name . parameters: (_)) (constant_constructor_signature (identifier) @name . (formal_parameter_list))]) @method

(_ (identifier) @call . (selector (argument_part)))
(_ (selector (unconditional_assignable_selector (identifier) @call)) . (selector (argument_part)))
(superclass (type_identifier) @extends)
(interfaces (type_identifier) @implements)
(import_specification (configurable_uri (uri (string_literal) @path)))

;; names
(static_final_declaration . (identifier) @constant)
(initialized_identifier . (identifier) @variable)
(enum_constant name: (_) @enumerator)
