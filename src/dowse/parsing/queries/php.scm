; PHP: namespaces are left out of qualified names, like Java's packages.
(function_definition name: (_) @name body: (_) @body) @function
(method_declaration name: (_) @name body: (_)? @body) @method
(class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(trait_declaration name: (_) @name body: (_) @body) @trait
(enum_declaration name: (_) @name body: (_) @body) @enum

(function_call_expression function: [(name) (qualified_name)] @call)
(member_call_expression object: (_) @on name: (name) @call)
(nullsafe_member_call_expression object: (_) @on name: (name) @call)
(scoped_call_expression scope: (_) @on name: (name) @call)
(object_creation_expression [(name) (qualified_name)] @call)
(base_clause (_) @extends)
(class_interface_clause (_) @implements)
(use_declaration [(name) (qualified_name)] @implements)
(attribute . (_) @use)
(namespace_use_declaration (namespace_use_clause . [(name) (qualified_name)] @import))
(namespace_use_declaration (namespace_name) @from body: (namespace_use_group (namespace_use_clause . (_) @import)))

; What names stand for.
((namespace_use_declaration) @bind (#set! role "statement"))
(namespace_definition name: (_) @bind (#set! role "package"))
(simple_parameter type: (_) @as name: (_) @bind)
(simple_parameter !type name: (_) @bind)
(property_promotion_parameter type: (_) @as name: (_) @bind (#set! role "field"))
(property_declaration type: (_) @as (property_element name: (_) @bind))
(assignment_expression left: [(variable_name) (member_access_expression)] @bind right: (object_creation_expression [(name) (qualified_name)] @made))
(assignment_expression left: (variable_name) @bind right: [(function_call_expression) (scoped_call_expression) (member_call_expression)] @same)
(assignment_expression left: [(variable_name) (member_access_expression)] @bind right: [(variable_name) (member_access_expression)] @same)
(foreach_statement (variable_name) . (variable_name) @bind)
