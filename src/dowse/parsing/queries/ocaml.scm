; OCaml.
(module_definition (module_binding (module_name) @name body: (_) @body)) @module
(module_type_definition (module_type_name) @name body: (_) @body) @interface
(value_definition (let_binding pattern: (value_name) @name . (parameter) body: (_) @body)) @function
(value_definition (let_binding pattern: (value_name) @name body: [(fun_expression) (function_expression)] @body)) @function
(type_binding name: (_) @name body: (_)? @body) @type
(class_binding (class_name) @name body: (_) @body) @class
(method_definition (method_name) @name body: (_)? @body) @method

(application_expression function: (value_path) @call)
(open_module module: (module_path) @import)

;; names
(value_definition (let_binding pattern: (value_name) @variable))
(value_specification (value_name) @prototype)
(external (value_name) @prototype)
(field_declaration (field_name) @field)
(constructor_declaration (constructor_name) @enumerator)
(instance_variable_definition (instance_variable_name) @field)

