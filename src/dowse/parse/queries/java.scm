; Java.
(class_declaration name: (_) @name body: (_) @body) @class
(record_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(annotation_type_declaration name: (_) @name body: (_) @body) @interface
(enum_declaration name: (_) @name body: (_) @body) @enum
(method_declaration name: (_) @name body: (_)? @body) @method
(constructor_declaration name: (_) @name body: (_) @body) @method
(compact_constructor_declaration name: (_) @name body: (_) @body) @method

(method_invocation object: (_) @on name: (_) @call)
(method_invocation !object name: (_) @call)
(object_creation_expression type: (_) @call)
(superclass (_) @extends)
(super_interfaces (type_list (_) @implements))
(extends_interfaces (type_list (_) @extends))
(marker_annotation name: (_) @use)
(annotation name: (_) @use)
(import_declaration [(scoped_identifier) (identifier)] @import)
