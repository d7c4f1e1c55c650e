; PowerShell.
(function_statement (function_name) @name (script_block) @body) @function
(class_statement . (simple_name) @name) @class
(class_method_definition (simple_name) @name (script_block) @body) @method
(enum_statement . (simple_name) @name) @enum

(command command_name: (command_name) @call)
(invokation_expression (member_name (simple_name) @call))

;; names
(program (statement_list (pipeline (assignment_expression (left_assignment_expression (logical_expression (bitwise_expression (comparison_expression (additive_expression (multiplicative_expression (format_expression (range_expression (array_literal_expression (unary_expression (variable) @variable))))))))))))))
(class_property_definition (variable) @field)
(enum_member (simple_name) @enumerator)
