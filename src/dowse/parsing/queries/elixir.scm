; Elixir: everything is a call, so the first word decides.
(call target: (identifier) @word (arguments . (alias) @name) (do_block) @body (#set! words "defmodule defprotocol")) @module
(call target: (identifier) @word (arguments . (alias) @implements (keywords (pair value: (alias) @name))) (do_block) (#set! words "defimpl")) @impl
(call target: (identifier) @word (arguments . (call target: (identifier) @name) (keywords)? @body) (do_block)? @body (#set! words "def defp defdelegate defn")) @function
(call target: (identifier) @word (arguments . (identifier) @name (keywords)? @body) (do_block)? @body (#set! words "def defp defdelegate")) @function
(call target: (identifier) @word (arguments . (binary_operator left: (call target: (identifier) @name)) (keywords)? @body) (do_block)? @body (#set! words "def defp")) @function
(call target: (identifier) @word (arguments . (binary_operator left: (identifier) @name operator: "when") (keywords)? @body) (do_block)? @body (#set! words "def defp")) @function
(call target: (identifier) @word (arguments . (call target: (identifier) @name) (keywords)? @body) (do_block)? @body (#set! words "defmacro defmacrop")) @macro
(call target: (identifier) @word (arguments . (binary_operator left: (call target: (identifier) @name)) (keywords)? @body) (do_block)? @body (#set! words "defmacro defmacrop defguard defguardp")) @macro
(unary_operator operator: "@") @lead
(unary_operator operator: "@" operand: (call target: (identifier) @word (arguments . (string))) (#set! words "moduledoc")) @doc

(call target: [(identifier) (dot)] @call (arguments) @args)
(call target: [(identifier) (dot)] @call . (do_block))
(unary_operator operator: "@" operand: (call target: (identifier) @word (arguments . (alias) @implements)) (#set! words "behaviour"))
(call target: (identifier) @word (arguments . (alias) @import) (#set! words "alias import use require"))
(call target: (identifier) @word (arguments . (dot left: (alias) @from right: (tuple (alias) @import))) (#set! words "alias import use require"))

; What names stand for.
(call target: (identifier) @word (arguments . [(alias) (dot)]) (#set! words "alias import use") (#set! role "statement")) @bind

;; names
(unary_operator operator: "@" operand: (call target: (identifier) @constant (arguments)) (#not-match? @constant "^(module|type)?doc$|^(spec|typep?|opaque|(macro)?callback|impl|behaviour|deprecated|since|derive|(module|describe)?tag|dialyzer|compile|enforce_keys|optional_callbacks|(before|after)_compile|on_load|external_resource)$"))
(unary_operator operator: "@" operand: (call target: (identifier) @_type (arguments (binary_operator left: [(identifier) @alias (call target: (identifier) @alias)] operator: "::"))) (#any-of? @_type "type" "typep" "opaque"))
(unary_operator operator: "@" operand: (call target: (identifier) @_callback (arguments [(binary_operator left: (call target: (identifier) @prototype) operator: "::") (binary_operator left: (binary_operator left: (call target: (identifier) @prototype) operator: "::") operator: "when")])) (#any-of? @_callback "callback" "macrocallback"))
(call target: (identifier) @_struct (arguments [(list [(atom) @field (keywords (pair key: (keyword) @field))]) (keywords (pair key: (keyword) @field))]) (#any-of? @_struct "defstruct" "defexception"))
(call target: (identifier) @_field (arguments . (atom) @field) (#any-of? @_field "field" "belongs_to" "has_many" "has_one" "many_to_many" "embeds_one" "embeds_many"))
(call target: [(identifier) @_record (dot right: (identifier) @_record)] (arguments . (atom) @struct) (#any-of? @_record "defrecord" "defrecordp"))
