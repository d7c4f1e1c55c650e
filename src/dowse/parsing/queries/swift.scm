; Swift: an extension only qualifies; inheritance cannot tell classes from protocols.
(class_declaration declaration_kind: ["class" "actor"] name: (_) @name body: (_) @body) @class
(class_declaration declaration_kind: "struct" name: (_) @name body: (_) @body) @struct
(class_declaration declaration_kind: "enum" name: (_) @name body: (_) @body) @enum
(class_declaration declaration_kind: "extension" name: (_) @name body: (_)) @impl
(protocol_declaration name: (_) @name body: (_) @body) @interface
(function_declaration name: (_) @name body: (_) @body) @function
(protocol_function_declaration name: (_) @name) @function
(init_declaration name: _ @name body: (_) @body) @method
(property_declaration name: (pattern bound_identifier: (_) @name) computed_value: (_) @body) @constant
(typealias_declaration name: (type_identifier) @name) @type

(call_expression . [(simple_identifier) (navigation_expression)] @call)
(inheritance_specifier inherits_from: (_) @extends)
(attribute (user_type) @use)
(import_declaration (identifier) @import)

; What names stand for.
(parameter name: (simple_identifier) @bind . (_) @as)
(property_declaration name: (pattern bound_identifier: (simple_identifier) @bind) (type_annotation (_) @as))
(property_declaration name: (pattern bound_identifier: (simple_identifier) @bind) value: (call_expression . [(simple_identifier) (navigation_expression)] @made))

;; names
([(property_declaration name: (pattern [bound_identifier: (simple_identifier) @variable (pattern (simple_identifier) @variable)])) (protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @property))])
(enum_entry name: (simple_identifier) @enumerator)
(associatedtype_declaration name: (_) @alias)
([(computed_property) @local (lambda_literal) @local (deinit_declaration) @local (willset_didset_block) @local])

;; uses
(navigation_expression) @member
[(simple_identifier) (type_identifier)] @identifier
(directly_assignable_expression [(simple_identifier) (navigation_expression)] @written)
