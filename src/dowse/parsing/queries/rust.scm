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
(function_item parameters: (parameters (parameter pattern: (identifier) @bind type: (_) @as)))
(function_signature_item parameters: (parameters (parameter pattern: (identifier) @bind type: (_) @as)))
(parameter pattern: (mut_pattern (identifier) @bind) type: (_) @as)
(closure_expression parameters: (closure_parameters (identifier) @bind)) @within
(closure_expression parameters: (closure_parameters (parameter pattern: (identifier) @bind type: (_) @as))) @within
(let_declaration pattern: (identifier) @bind type: (_) @as)
(let_declaration pattern: (identifier) @bind !type value: (call_expression function: [(identifier) (scoped_identifier) (field_expression)] @made))
(let_declaration pattern: (identifier) @bind !type value: (struct_expression name: (_) @as))
(let_declaration pattern: (identifier) @bind !type value: [(identifier) (field_expression)] @same)
(let_declaration pattern: (identifier) @bind !type value: (reference_expression value: [(identifier) (field_expression)] @same))
(let_declaration pattern: (identifier) @bind !type value: [(string_literal) (integer_literal) (array_expression) (macro_invocation)] @literal)
(let_declaration pattern: (identifier) @bind !type value: [(try_expression) (await_expression) (closure_expression) (match_expression) (if_expression) (block)])
(let_declaration pattern: (tuple_pattern (identifier) @bind))
(tuple_struct_pattern type: (_) (identifier) @bind)
(for_expression pattern: (identifier) @bind)
(match_arm pattern: (match_pattern (identifier) @bind))
(field_declaration name: (_) @bind type: (_) @as)

;; top level
(type_item name: (_) @name) @type
(const_item name: (_) @name) @constant
(static_item name: (_) @name) @constant
