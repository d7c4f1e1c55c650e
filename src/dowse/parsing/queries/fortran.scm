; Fortran: a module qualifies nothing in calls.
(module (module_statement (name) @name)) @module
(submodule (submodule_statement (name) @name)) @module
(interface (interface_statement (name) @name)) @interface
(program (program_statement (name) @name)) @module
(subroutine (subroutine_statement name: (_) @name) @head) @function
(function (function_statement name: (_) @name) @head) @function
(module_procedure (module_procedure_statement (name) @name) @head) @function
(derived_type_definition (derived_type_statement (type_name) @name)) @struct

(subroutine_call subroutine: (_) @call)
(call_expression . (identifier) @call)
(use_statement (module_name) @import)

;; names
(variable_declaration declarator: [(identifier) @variable (init_declarator left: (identifier) @variable) (sized_declarator . (identifier) @variable) (init_declarator left: (sized_declarator . (identifier) @variable))])
