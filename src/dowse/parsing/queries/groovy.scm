; Groovy.
(class_definition name: (_) @name body: (_) @body) @class
(function_definition function: (_) @name body: (_) @body) @function
(function_declaration function: (_) @name) @function

(function_call function: [(identifier) (dotted_identifier)] @call)
(juxt_function_call function: [(identifier) (dotted_identifier)] @call)
(groovy_import import: (_) @import)

;; names
(source_file (declaration name: (identifier) @variable))
(class_definition body: (closure (declaration name: (identifier) @variable)))
