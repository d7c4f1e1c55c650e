; Ruby: mixins implement.
(method name: (_) @name parameters: (_)? @head) @method
(singleton_method name: (_) @name parameters: (_)? @head) @method
(class name: (_) @name superclass: (_)? @head) @class
(module name: (_) @name) @module
(assignment left: (constant) @name right: (call receiver: (constant) @word method: (identifier) block: (_) @body) (#set! words "Struct Class Module Data")) @class

(call receiver: (_) @on method: [(identifier) (constant)] @call)
(call !receiver method: [(identifier) (constant)] @call)
(super) @call
(identifier) @bare
(assignment left: (call method: (identifier) @setter))
(left_assignment_list (call method: (identifier) @setter))
[(alias (identifier) @skip) (undef (identifier) @skip)]
(class superclass: (superclass (_) @extends))
(call !receiver method: (identifier) @word arguments: (argument_list [(constant) (scope_resolution)] @implements) (#set! words "include extend prepend"))
(call method: (identifier) @word arguments: (argument_list . (string (string_content) @path)) (#set! words "require require_relative load"))

; Methods that are named by symbols: of any object, of the receiver, or of the class around.
(block_argument (simple_symbol) @value (#set! role "path"))
(call receiver: (_) @on method: (identifier) @_called arguments: (argument_list . (simple_symbol) @value) (#any-of? @_called "send" "public_send" "__send__" "method" "public_method" "instance_method"))
(call !receiver method: (identifier) @_called arguments: (argument_list [(simple_symbol) @symbol (pair value: (simple_symbol) @symbol)]) (#not-match? @_called "^(private|public|protected|module_function|private_class_method|public_class_method|private_constant|attr_reader|attr_writer|attr_accessor|alias_method|undef_method|remove_method|define_method)$"))

; What names stand for.
(call method: (identifier) @word arguments: (argument_list . (string)) (#set! words "require require_relative load") (#set! role "statement")) @bind
(method_parameters [(identifier) @bind (_ name: (identifier) @bind)])
(lambda_parameters [(identifier) @bind (_ name: (identifier) @bind)])
(block_parameters [(identifier) @bind (_ name: (identifier) @bind)])
(destructured_parameter (identifier) @bind)
(left_assignment_list (identifier) @bind)
(rest_assignment (identifier) @bind)
(exception_variable (identifier) @bind)
(for pattern: (identifier) @bind)
(assignment left: [(identifier) (instance_variable) (class_variable) (constant)] @bind right: (_) @assigned)
(operator_assignment left: [(identifier) (instance_variable) (class_variable) (constant)] @bind right: (_) @assigned)
(method name: (_) @bind body: [(body_statement (_) @assigned .) (body_statement (_) @assigned . [(rescue) (ensure)]) [(call) (identifier) (instance_variable) (conditional)] @assigned] (#set! role "result"))
(singleton_method name: (_) @bind body: [(body_statement (_) @assigned .) (body_statement (_) @assigned . [(rescue) (ensure)]) [(call) (identifier) (instance_variable) (conditional)] @assigned] (#set! role "result"))
((return (_) @assigned) @bind (#set! role "result"))
(alias name: (_) @bind alias: (_) @same (#set! role "adapted"))
(call method: (identifier) @word arguments: (argument_list . (simple_symbol) @bind . (simple_symbol) @same) (#set! words "alias_method") (#set! role "adapted"))
(call method: (identifier) @word arguments: (argument_list (simple_symbol) @bind) (#set! words "attr_reader attr_accessor") (#set! role "attribute"))

;; names
(assignment left: [(constant) @constant (scope_resolution name: (constant) @constant) (left_assignment_list (constant) @constant) (global_variable) @variable (class_variable) @field (instance_variable) @own_field])
(operator_assignment left: [(constant) @constant (instance_variable) @own_field])
(alias name: (_) @alias)
(call method: (identifier) @_alias arguments: (argument_list . [(simple_symbol) @alias (string (string_content) @alias)]) (#any-of? @_alias "alias_method" "alias_attribute"))
(call method: (identifier) @_method arguments: (argument_list . [(simple_symbol) @method (string (string_content) @method)]) (#any-of? @_method "define_method" "define_singleton_method"))
(call !receiver method: (identifier) @_accessor arguments: (argument_list [(simple_symbol) @property (string (string_content) @property)]) (#any-of? @_accessor "attr_reader" "attr_writer" "attr_accessor" "attr" "mattr_reader" "mattr_accessor" "cattr_reader" "cattr_accessor" "class_attribute" "thread_mattr_accessor" "delegate" "def_delegators" "def_delegator"))
(call !receiver method: (identifier) @_declared arguments: (argument_list . (simple_symbol) @property) (#any-of? @_declared "attribute" "scope" "has_many" "has_one" "belongs_to" "has_and_belongs_to_many" "property" "field"))
(call !receiver method: (identifier) @_set arguments: (argument_list . (simple_symbol) @key . (_)) (#eq? @_set "set"))
(assignment right: (call receiver: (constant) @_struct arguments: (argument_list (simple_symbol) @field)) (#any-of? @_struct "Struct" "Data"))

;; uses
(scope_resolution) @member
(constant) @identifier
