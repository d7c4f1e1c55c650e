; Python: decorators lead, docstrings are looked for where bodies start.
(function_definition name: (identifier) @name body: (block) @body) @function
(class_definition name: (identifier) @name body: (block) @body) @class
(type_alias_statement left: (type) @name) @type

(decorator) @lead

(call function: [(identifier) (attribute)] @call)
(class_definition superclasses: (argument_list [(identifier) (attribute) (subscript)] @extends))
(decorator [(identifier) (attribute)] @use)
(decorator (call function: (_) @use))
(import_statement name: (dotted_name) @import)
(import_statement name: (aliased_import name: (dotted_name) @import))
(import_from_statement module_name: (_) @from name: (dotted_name) @import)
(import_from_statement module_name: (_) @from name: (aliased_import name: (dotted_name) @import))
(import_from_statement module_name: (_) @from (wildcard_import) @import)

;; top level
(expression_statement (assignment left: (identifier) @name) @constant)
