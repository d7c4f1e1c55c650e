; Rust: an impl block only qualifies what it holds.
(function_item name: (_) @name body: (_) @body) @function
(function_signature_item name: (_) @name) @function
(struct_item name: (_) @name body: (_)? @body) @struct
(union_item name: (_) @name body: (_) @body) @struct
(enum_item name: (_) @name body: (_) @body) @enum
(trait_item name: (_) @name body: (_) @body) @trait
(impl_item type: (_) @name) @impl
(mod_item name: (_) @name body: (_)) @scope
(macro_definition name: (_) @name) @macro
(attribute_item) @lead

(call_expression function: [(identifier) (field_expression) (scoped_identifier) (generic_function)] @call)
; Functions as values: `.map(parse)`, `.map(Foo::parse)`.
(arguments (identifier) @value)
(arguments (scoped_identifier path: (_) @on name: (_) @value))
(macro_invocation macro: (_) @call)
(macro_invocation (token_tree) @tokens)
(struct_expression name: (_) @call)
(impl_item trait: (_) @implements)
(trait_item bounds: (trait_bounds [(type_identifier) (scoped_type_identifier) (generic_type)] @extends))
(attribute_item (attribute . (_) @word arguments: (token_tree (identifier) @use)) (#set! words "derive"))
(attribute_item (attribute . [(identifier) (scoped_identifier)] @use))
(use_declaration argument: [(identifier) (scoped_identifier)] @import)
(use_declaration argument: (use_as_clause path: (_) @import))
(use_wildcard (_) @import)
(scoped_use_list path: (_) @from list: (use_list [(identifier) (scoped_identifier)] @import))
(scoped_use_list path: (_) @from list: (use_list (use_as_clause path: (_) @import)))

; What names stand for.
((use_declaration) @bind (#set! role "statement"))
(impl_item type: (_) @bind (#set! role "impl")) @within
((extern_crate_declaration) @bind (#set! role "statement"))
(parameter pattern: [(identifier) @bind (mut_pattern (identifier) @bind) (reference_pattern (identifier) @bind)] type: (_) @as (#set! role "let"))
(closure_parameters (identifier) @bind (#set! role "let"))
(let_declaration pattern: [(identifier) @bind (mut_pattern (identifier) @bind)] type: (_) @as (#set! role "let"))
(let_declaration pattern: [(identifier) @bind (mut_pattern (identifier) @bind) (tuple_pattern [(identifier) @bind (mut_pattern (identifier) @bind)])] !type value: (_) @assigned (#set! role "let"))
(let_declaration pattern: (tuple_struct_pattern type: (_) @word [(identifier) @bind (tuple_pattern [(identifier) @bind (mut_pattern (identifier) @bind)])]) value: (_) @unwrapped (#set! words "Some Ok") (#set! role "let"))
(let_condition pattern: (tuple_struct_pattern type: (_) @word [(identifier) @bind (mut_pattern (identifier) @bind) (tuple_pattern [(identifier) @bind (mut_pattern (identifier) @bind)])]) value: (_) @unwrapped (#set! words "Some Ok") (#set! role "let"))
(match_expression value: (_) @unwrapped body: (match_block (match_arm pattern: (match_pattern (tuple_struct_pattern type: (_) @word [(identifier) @bind (tuple_pattern [(identifier) @bind (mut_pattern (identifier) @bind)])]))))  (#set! words "Some Ok") (#set! role "let"))
(tuple_struct_pattern type: (_) (identifier) @bind (#set! role "let"))
(for_expression pattern: [(identifier) @bind (mut_pattern (identifier) @bind) (reference_pattern (identifier) @bind) (tuple_pattern [(identifier) @bind (mut_pattern (identifier) @bind)])] value: (_) @each (#set! role "let"))
(match_arm pattern: (match_pattern (identifier) @bind) (#set! role "let"))
(type_parameter name: (type_identifier) @bind bounds: (trait_bounds) @as (#set! role "bound"))
(where_predicate left: (type_identifier) @bind bounds: (trait_bounds) @as (#set! role "bound"))
(field_declaration name: (_) @bind type: (_) @as)

;; top level
(type_item name: (_) @name) @type
(const_item name: (_) @name) @constant
(static_item name: (_) @name) @constant

;; names
([(const_item name: (identifier) @constant) (static_item name: (identifier) @variable)])
(field_declaration name: (_) @field)
(enum_variant name: (_) @enumerator)
([(type_item name: (_) @alias) (associated_type name: (_) @alias) (use_as_clause alias: (_) @alias) (extern_crate_declaration alias: (_) @alias)])
(mod_item name: (_) @namespace)

;; uses
[(field_expression) (scoped_identifier) (scoped_type_identifier)] @member
[(identifier) (type_identifier)] @identifier
(assignment_expression left: [(identifier) (field_expression)] @written)
(compound_assignment_expr left: [(identifier) (field_expression)] @written)
(field_initializer field: (field_identifier) @key)
(shorthand_field_initializer (identifier) @key)
(field_pattern name: [(field_identifier) (shorthand_field_identifier)] @key)
(token_tree "{" (identifier) @key . ":")
(type_binding name: (type_identifier) @no_use)
