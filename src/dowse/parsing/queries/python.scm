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

; What names stand for.
((import_statement) @bind (#set! role "statement"))
((import_from_statement) @bind (#set! role "statement"))
(parameters (identifier) @bind)
(parameters (default_parameter name: (identifier) @bind))
(typed_parameter . (identifier) @bind type: (type) @as)
(typed_parameter . [(list_splat_pattern (identifier) @bind) (dictionary_splat_pattern (identifier) @bind)])
(typed_default_parameter name: (identifier) @bind type: (type) @as)
(parameters [(list_splat_pattern (identifier) @bind) (dictionary_splat_pattern (identifier) @bind)])
(lambda parameters: (lambda_parameters (identifier) @bind)) @within
(assignment left: [(identifier) (attribute)] @bind !type right: (call function: [(identifier) (attribute)] @made))
(assignment left: [(identifier) (attribute)] @bind type: (type) @as)
(assignment left: [(identifier) (attribute)] @bind !type right: [(identifier) (attribute)] @same)
(assignment left: (identifier) @bind !type right: [(list) (dictionary) (set) (string) (tuple) (list_comprehension) (dictionary_comprehension) (concatenated_string)] @literal)
(assignment left: (identifier) @bind !type right: [(await) (subscript) (binary_operator) (boolean_operator) (conditional_expression) (lambda) (parenthesized_expression)])
(assignment left: (pattern_list (identifier) @bind))
(for_statement left: (identifier) @bind)
(for_statement left: (pattern_list (identifier) @bind))
(for_in_clause left: (identifier) @bind)
(named_expression name: (identifier) @bind)
(as_pattern (call function: [(identifier) (attribute)] @made) alias: (as_pattern_target (identifier) @bind))
(as_pattern (identifier) alias: (as_pattern_target (identifier) @bind))

;; top level
(expression_statement (assignment left: (identifier) @name) @constant)
