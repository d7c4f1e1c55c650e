; C, and the part of it that C++ keeps. Prototypes stay in the text around them.
(function_definition declarator: (function_declarator declarator: (_) @name) body: (_) @body) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name)) body: (_) @body) @function
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name))) body: (_) @body) @function
(struct_specifier name: (_) @name body: (_) @body) @struct
(union_specifier name: (_) @name body: (_) @body) @struct
(enum_specifier name: (_) @name body: (_) @body) @enum
(type_definition type: (struct_specifier body: (_) @body) declarator: (type_identifier) @name) @struct
(type_definition type: (union_specifier body: (_) @body) declarator: (type_identifier) @name) @struct
(type_definition type: (enum_specifier body: (_) @body) declarator: (type_identifier) @name) @enum
(preproc_function_def name: (_) @name value: (_)? @body) @macro

(call_expression function: [(identifier) (field_expression)] @call arguments: (_) @args)
(preproc_include path: (_) @path)

; Functions as values: in tables, in arguments, in variables.
(argument_list [(identifier) @value (pointer_expression argument: (identifier) @value) (cast_expression value: (identifier) @value)])
(initializer_list [(identifier) @value (pointer_expression argument: (identifier) @value)])
(initializer_pair value: [(identifier) @value (pointer_expression argument: (identifier) @value) (cast_expression value: (identifier) @value)])
(assignment_expression right: [(identifier) @value (pointer_expression argument: (identifier) @value)])
(init_declarator value: (identifier) @value)
(return_statement (identifier) @value)

; What names stand for.
((preproc_include) @bind (#set! role "statement"))
(parameter_declaration type: (_) @as declarator: [
  (identifier) @bind
  (pointer_declarator declarator: [(identifier) @bind (pointer_declarator declarator: (identifier) @bind) (array_declarator declarator: (identifier) @bind)])
  (array_declarator declarator: (identifier) @bind)])
(declaration type: (_) @as declarator: [
  (identifier) @bind
  (pointer_declarator declarator: [(identifier) @bind (pointer_declarator declarator: (identifier) @bind) (array_declarator declarator: (identifier) @bind)])
  (array_declarator declarator: [(identifier) @bind (array_declarator declarator: (identifier) @bind)])
  (init_declarator declarator: [
    (identifier) @bind
    (pointer_declarator declarator: [(identifier) @bind (pointer_declarator declarator: (identifier) @bind) (array_declarator declarator: (identifier) @bind)])
    (array_declarator declarator: [(identifier) @bind (array_declarator declarator: (identifier) @bind)])])])
(function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @bind)))
(type_definition type: [(type_identifier) @same (struct_specifier name: (_) @same !body) (union_specifier name: (_) @same !body)] declarator: [(type_identifier) @bind (pointer_declarator declarator: (type_identifier) @bind)])
(field_declaration type: (_) @as declarator: [
  (field_identifier) @bind
  (pointer_declarator declarator: [(field_identifier) @bind (pointer_declarator declarator: (field_identifier) @bind) (array_declarator declarator: (field_identifier) @bind)])
  (array_declarator declarator: [(field_identifier) @bind (array_declarator declarator: (field_identifier) @bind)])])

;; top level
(declaration declarator: (init_declarator declarator: [(identifier) @name (array_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)]) (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))] value: (initializer_list))) @constant

;; names
; API int (name) (arguments): no function returns a function, so the macro is what is read as a type.
(function_declarator declarator: (function_declarator declarator: (identifier) parameters: (parameter_list . (parameter_declaration . type: (type_identifier) @prototype .) .)))
; A body after a macro, as in `TEST(name) { … }`.
(function_definition declarator: (parenthesized_declarator) body: (_) @local)
(preproc_def name: (_) @macro)
([(struct_specifier name: (type_identifier) @struct body: (_)) (union_specifier name: (type_identifier) @struct body: (_)) (enum_specifier name: (type_identifier) @enum body: (_))])
(enumerator name: (_) @enumerator)
; A field identifier is in a declarator only where a field is declared.
([(field_declaration declarator: (field_identifier) @field) (pointer_declarator declarator: (field_identifier) @field) (array_declarator declarator: (field_identifier) @field)])
(declaration declarator: [
  (identifier) @variable
  (pointer_declarator declarator: [(identifier) @variable (pointer_declarator declarator: (identifier) @variable) (array_declarator declarator: (identifier) @variable)])
  (array_declarator declarator: [(identifier) @variable (array_declarator declarator: (identifier) @variable)])
  (init_declarator declarator: [
    (identifier) @variable
    (pointer_declarator declarator: [(identifier) @variable (pointer_declarator declarator: (identifier) @variable) (array_declarator declarator: (identifier) @variable)])
    (array_declarator declarator: [(identifier) @variable (array_declarator declarator: (identifier) @variable)])
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: [(identifier) @variable (array_declarator declarator: (identifier) @variable)])))])
  (function_declarator declarator: [(identifier) @prototype (parenthesized_declarator (identifier) @prototype) (parenthesized_declarator (pointer_declarator declarator: [(identifier) @variable (array_declarator declarator: (identifier) @variable)]))])
  (pointer_declarator declarator: [(function_declarator declarator: (identifier) @prototype) (pointer_declarator declarator: (function_declarator declarator: (identifier) @prototype))])])
(type_definition declarator: [
  (type_identifier) @alias
  (pointer_declarator declarator: (type_identifier) @alias)
  (array_declarator declarator: (type_identifier) @alias)
  (function_declarator declarator: [(type_identifier) @alias (parenthesized_declarator [(type_identifier) @alias (pointer_declarator declarator: (type_identifier) @alias)])])
  (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @alias))))])

;; uses
(field_expression) @member
[(identifier) (type_identifier)] @identifier
(assignment_expression left: [(identifier) (field_expression)] @written)
(update_expression argument: [(identifier) (field_expression)] @written)
(initializer_pair designator: (field_designator (field_identifier) @key))
