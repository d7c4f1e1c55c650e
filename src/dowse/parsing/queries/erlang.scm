; Erlang: clauses of one function are merged afterwards.
(fun_decl clause: (function_clause name: (atom) @name args: (_) @head)) @function
(record_decl name: (_) @name) @struct
(type_alias name: (type_name name: (_) @name)) @type
(opaque name: (type_name name: (_) @name)) @type

(call expr: (atom) @call)
(internal_fun fun: (atom) @call)
(import_attribute module: (atom) @import)
(behaviour_attribute name: (atom) @implements)

;; names
(module_attribute name: (_) @namespace)
(pp_define lhs: (macro_lhs name: (_) @macro))
(record_field name: (_) @field)
