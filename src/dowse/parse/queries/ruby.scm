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
