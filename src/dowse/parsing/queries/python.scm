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

; Functions as values: arguments, tables, what a decorator is given.
([(argument_list (identifier) @value) (keyword_argument value: (identifier) @value) (pair value: (identifier) @value) (list (identifier) @value) (tuple (identifier) @value) (assignment right: (identifier) @value) (return_statement (identifier) @value) (default_parameter value: (identifier) @value)])
([(argument_list (attribute object: (identifier) @word @on attribute: (identifier) @value)) (keyword_argument value: (attribute object: (identifier) @word @on attribute: (identifier) @value)) (pair value: (attribute object: (identifier) @word @on attribute: (identifier) @value)) (list (attribute object: (identifier) @word @on attribute: (identifier) @value)) (return_statement (attribute object: (identifier) @word @on attribute: (identifier) @value))] (#set! words "self cls"))
(decorated_definition (decorator) @decorator definition: (function_definition name: (identifier) @registered))

; What names stand for.
((import_statement) @bind (#set! role "statement"))
((import_from_statement) @bind (#set! role "statement"))
(parameters (identifier) @bind)
(parameters (default_parameter name: (identifier) @bind value: (_) @default))
(typed_parameter . (identifier) @bind type: (type) @as)
(typed_parameter . [(list_splat_pattern (identifier) @bind) (dictionary_splat_pattern (identifier) @bind)])
(typed_default_parameter name: (identifier) @bind type: (type) @as)
(parameters [(list_splat_pattern (identifier) @bind) (dictionary_splat_pattern (identifier) @bind)])
(lambda parameters: (lambda_parameters (identifier) @bind)) @within
(assignment left: [(identifier) (attribute)] @bind !type right: (_) @assigned)
(assignment left: [(identifier) (attribute)] @bind type: (type) @as)
(assignment left: (pattern_list) @bind right: (_) @assigned)
(named_expression name: (identifier) @bind value: (_) @assigned)
((return_statement (_) @assigned) @bind (#set! role "result"))
((yield (_) @yielded) @bind (#set! role "result"))
(for_statement left: (identifier) @bind right: (_) @each (#set! role "loop"))
(for_in_clause left: (identifier) @bind right: (_) @each (#set! role "loop"))
(for_statement left: (pattern_list) @bind right: (_) @each (#set! role "loop"))
(for_in_clause left: (pattern_list) @bind right: (_) @each (#set! role "loop"))
([(for_statement left: (pattern_list (_) (identifier) @bind) right: (call function: (attribute object: (_) @mapping attribute: (identifier) @word))) (for_in_clause left: (pattern_list (_) (identifier) @bind) right: (call function: (attribute object: (_) @mapping attribute: (identifier) @word)))] (#set! words "items") (#set! role "loop"))
([(for_statement left: (pattern_list (_) (identifier) @bind) right: (call function: (identifier) @word arguments: (argument_list . (_) @each))) (for_in_clause left: (pattern_list (_) (identifier) @bind) right: (call function: (identifier) @word arguments: (argument_list . (_) @each)))] (#set! words "enumerate") (#set! role "loop"))
(as_pattern (_) @entered alias: (as_pattern_target (identifier) @bind))
(call function: (identifier) @word arguments: (argument_list . (identifier) @bind . (_) @as) (#set! words "isinstance") (#set! role "narrowed"))

;; top level
(expression_statement (assignment left: (identifier) @name) @constant)

;; names
(assignment left: [(identifier) @variable (pattern_list (identifier) @variable) (tuple_pattern (identifier) @variable)])
(assignment left: (attribute object: (identifier) @_self attribute: (identifier) @own_field) (#any-of? @_self "self" "cls"))
(aliased_import alias: (identifier) @alias)

;; uses
(attribute) @member
(identifier) @identifier
(assignment left: [(identifier) (attribute)] @written)
(augmented_assignment left: [(identifier) (attribute)] @written)
(keyword_argument name: (identifier) @key)
