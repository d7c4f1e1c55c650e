; Perl: a package is a statement, so that it qualifies nothing here.
(function_definition name: (_) @name body: (_) @body) @function

(call_expression_with_bareword function_name: (identifier) @call)
(method_invocation function_name: (identifier) @call)
(use_no_statement package_name: (_) @import)

;; names
(package_statement (package_name) @namespace)
(use_constant_statement constant: (identifier) @constant)
(use_constant_statement value: (hash_ref (call_expression_with_bareword function_name: (identifier) @constant)))
(variable_declaration (scope) @_scope variable_name: (_) @variable (#eq? @_scope "our"))
