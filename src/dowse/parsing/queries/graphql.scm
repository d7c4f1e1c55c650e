; GraphQL: all are names; what holds others is their path.
(object_type_definition (name) @name (fields_definition) @body) @scope
(interface_type_definition (name) @name (fields_definition) @body) @scope
(input_object_type_definition (name) @name (input_fields_definition) @body) @scope
(enum_type_definition (name) @name (enum_values_definition) @body) @scope

;; names
(object_type_definition (name) @class)
(interface_type_definition (name) @interface)
(input_object_type_definition (name) @struct)
(enum_type_definition (name) @enum)
(union_type_definition (name) @alias)
(scalar_type_definition (name) @alias)
(directive_definition (name) @macro)
(fragment_definition (fragment_name (name) @prototype))
(operation_definition (name) @prototype)
(field_definition (name) @field)
(input_fields_definition (input_value_definition (name) @field))
(enum_value (name) @enumerator)
