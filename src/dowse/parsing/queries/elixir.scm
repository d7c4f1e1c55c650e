; Elixir: everything is a call, so the first word decides.
(call target: (identifier) @word (arguments . (alias) @name) (do_block) @body (#set! words "defmodule defprotocol")) @module
(call target: (identifier) @word (arguments . (alias) @implements (keywords (pair value: (alias) @name))) (do_block) (#set! words "defimpl")) @impl
(call target: (identifier) @word (arguments . (call target: (identifier) @name) (keywords)? @body) (do_block)? @body (#set! words "def defp defdelegate defn")) @function
(call target: (identifier) @word (arguments . (identifier) @name (keywords)? @body) (do_block)? @body (#set! words "def defp defdelegate")) @function
(call target: (identifier) @word (arguments . (binary_operator left: (call target: (identifier) @name)) (keywords)? @body) (do_block)? @body (#set! words "def defp")) @function
(call target: (identifier) @word (arguments . (binary_operator operator: "when" left: (identifier) @name) (keywords)? @body) (do_block)? @body (#set! words "def defp")) @function
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
