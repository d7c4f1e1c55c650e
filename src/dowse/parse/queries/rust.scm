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

;; top level
(type_item name: (_) @name) @type
(const_item name: (_) @name) @constant
(static_item name: (_) @name) @constant
