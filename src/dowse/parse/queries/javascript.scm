; JavaScript alone: class fields and plain heritage.
(field_definition property: (_) @name value: (arrow_function body: (_) @body)) @method
(field_definition property: (_) @name value: (function_expression body: (_) @body)) @method
(class_heritage [(identifier) (member_expression)] @extends)
(class_heritage (call_expression function: (_) @extends))
