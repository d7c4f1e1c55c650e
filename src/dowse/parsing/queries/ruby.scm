; Ruby: mixins implement.
(method name: (_) @name parameters: (_)? @head) @method
(singleton_method name: (_) @name parameters: (_)? @head) @method
(class name: (_) @name superclass: (_)? @head) @class
(module name: (_) @name) @module

(call receiver: (_) @on method: [(identifier) (constant)] @call)
(call !receiver method: [(identifier) (constant)] @call)
(class superclass: (superclass (_) @extends))
(call !receiver method: (identifier) @word arguments: (argument_list [(constant) (scope_resolution)] @implements) (#set! words "include extend prepend"))
(call method: (identifier) @word arguments: (argument_list . (string (string_content) @path)) (#set! words "require require_relative load"))

; What names stand for.
(call method: (identifier) @word arguments: (argument_list . (string)) (#set! words "require require_relative load") (#set! role "statement")) @bind
(method_parameters (identifier) @bind)
(method_parameters [(optional_parameter name: (identifier) @bind) (keyword_parameter name: (identifier) @bind) (block_parameter name: (identifier) @bind)])
(block_parameters (identifier) @bind)
(assignment left: [(identifier) (instance_variable)] @bind right: (call receiver: [(constant) (scope_resolution)] method: (identifier)) @same)
(assignment left: [(identifier) (instance_variable)] @bind right: [(identifier) (instance_variable) (constant) (scope_resolution)] @same)
(assignment left: (identifier) @bind right: [(string) (array) (hash) (integer)] @literal)
(assignment left: (identifier) @bind right: [(call !receiver) (element_reference) (binary) (if)])
