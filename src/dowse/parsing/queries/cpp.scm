; C++ on top of C: classes, namespaces, out-of-line members.
(function_definition declarator: (reference_declarator (function_declarator declarator: (_) @name)) body: (_) @body) @function
(class_specifier name: (_) @name body: (_) @body) @class
(namespace_definition name: (_) @name body: (_)) @scope
(alias_declaration name: (_) @name) @type
(concept_definition name: (_) @name) @type
(type_definition type: [(type_identifier) (qualified_identifier) (template_type)] declarator: (type_identifier) @name) @type
(template_declaration parameters: (_) @lead)

(call_expression function: [(qualified_identifier) (template_function)] @call arguments: (_) @args)
(new_expression type: (_) @call)
(compound_literal_expression type: [(type_identifier) (qualified_identifier) (template_type)] @call value: (initializer_list) @args)
(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @extends)
(using_declaration (qualified_identifier) @import)

; What names stand for.
((using_declaration) @bind (#set! role "statement"))
((namespace_alias_definition) @bind (#set! role "statement"))
(parameter_declaration type: (_) @as declarator: (reference_declarator (identifier) @bind))
(optional_parameter_declaration type: (_) @as declarator: (identifier) @bind)
(declaration type: (_) @as declarator: (init_declarator declarator: (reference_declarator (identifier) @bind)))
(declaration type: (placeholder_type_specifier) declarator: (init_declarator declarator: [(identifier) @bind (reference_declarator (identifier) @bind) (pointer_declarator declarator: (identifier) @bind)] value: (_) @assigned))
(compound_statement (declaration type: (_) @as declarator: (function_declarator declarator: (identifier) @bind)))
(field_declaration type: (_) @as declarator: (reference_declarator (field_identifier) @bind))
(for_range_loop type: (placeholder_type_specifier) declarator: [(identifier) @bind (reference_declarator (identifier) @bind)] right: (_) @each)
(for_range_loop type: [(type_identifier) (qualified_identifier) (template_type)] @as declarator: [(identifier) @bind (reference_declarator (identifier) @bind)])
; The body of a test is a method of a class that derives from its fixture.
(function_definition declarator: (function_declarator declarator: (identifier) @bind @word parameters: (parameter_list . (parameter_declaration type: (_) @as))) body: (_) @within (#set! words "TEST_F TEST_P TYPED_TEST TYPED_TEST_P") (#set! role "receiver"))

;; names
(namespace_definition name: (_) @namespace)
(namespace_alias_definition name: (_) @alias)
(class_specifier name: (type_identifier) @class body: (_))
([(field_declaration declarator: (reference_declarator (field_identifier) @field)) (function_declarator declarator: [(field_identifier) @prototype (operator_name) @prototype (destructor_name) @prototype])])
(declaration declarator: [
  (reference_declarator (identifier) @variable)
  (qualified_identifier) @variable
  (init_declarator declarator: [(reference_declarator (identifier) @variable) (qualified_identifier) @variable (array_declarator declarator: (qualified_identifier) @variable)])
  (reference_declarator (function_declarator declarator: (identifier) @prototype))])
(lambda_expression body: (_) @local)

;; uses
[(qualified_identifier) (template_type)] @member
