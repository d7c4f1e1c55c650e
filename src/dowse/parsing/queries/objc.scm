; Objective-C, beside C: a method is called by the first part of its selector.
(class_interface . (identifier) @name) @class
(class_implementation . (identifier) @name) @class
(protocol_declaration . (identifier) @name) @interface
(method_definition (method_type) . (identifier) @name (compound_statement) @body) @method
(protocol_declaration (method_declaration (method_type) . (identifier) @name) @method)
(message_expression method: (identifier) @call)
(class_interface superclass: (identifier) @extends)

;; names
(class_interface (method_declaration (method_type) . (identifier) @prototype))
(property_declaration (struct_declaration (struct_declarator (identifier) @property)))
(property_declaration (struct_declaration (struct_declarator (pointer_declarator declarator: (identifier) @property))))
(instance_variable (struct_declaration (struct_declarator [(identifier) @field (pointer_declarator declarator: (identifier) @field)])))
