; C++ on top of C: classes, namespaces, out-of-line members.
(function_definition declarator: (reference_declarator (function_declarator declarator: (_) @name)) body: (_) @body) @function
(class_specifier name: (_) @name body: (_) @body) @class
(namespace_definition name: (_) @name body: (_)) @scope
(alias_declaration name: (_) @name) @type
(concept_definition name: (_) @name) @type
(template_declaration parameters: (_) @lead)

(call_expression function: [(qualified_identifier) (template_function)] @call)
(new_expression type: (_) @call)
(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @extends)
(using_declaration (qualified_identifier) @import)
