; C#: namespaces are left out of qualified names; the base list cannot tell classes from interfaces.
(class_declaration name: (_) @name body: (_) @body) @class
(record_declaration name: (_) @name body: (_)? @body) @class
(struct_declaration name: (_) @name body: (_) @body) @struct
(interface_declaration name: (_) @name body: (_) @body) @interface
(enum_declaration name: (_) @name body: (_) @body) @enum
(delegate_declaration name: (_) @name) @type
(method_declaration name: (_) @name body: (_)? @body) @method
(constructor_declaration name: (_) @name body: (_) @body) @method
(local_function_statement name: (_) @name body: (_) @body) @function
(operator_declaration operator: _ @name body: (_) @body) @method
(property_declaration name: (_) @name accessors: (accessor_list (accessor_declaration body: (_))) @body) @method

(invocation_expression function: [(identifier) (member_access_expression) (generic_name)] @call)
(invocation_expression function: (conditional_access_expression condition: (_) @on (member_binding_expression name: (_) @call)))
(object_creation_expression type: (_) @call)
(base_list [(identifier) (qualified_name) (generic_name)] @extends)
(base_list (primary_constructor_base_type . (_) @extends))
(attribute name: (_) @use)
(using_directive [(identifier) (qualified_name)] @import .)
