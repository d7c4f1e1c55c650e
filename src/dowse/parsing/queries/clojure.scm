; Clojure: everything is a list, so the first word decides.
(list_lit . value: (sym_lit name: (_) @word) . value: (sym_lit name: (_) @name) . (vec_lit)? @head (#set! words "defn defn- defmulti defmethod deftest definline")) @function
(list_lit . value: (sym_lit name: (_) @word) . value: (sym_lit name: (_) @name) (#set! words "defmacro")) @macro
(list_lit . value: (sym_lit name: (_) @word) . value: (sym_lit name: (_) @name) (#set! words "defprotocol definterface")) @interface
(list_lit . value: (sym_lit name: (_) @word) . value: (sym_lit name: (_) @name) (#set! words "defrecord deftype")) @class
(list_lit . value: (sym_lit name: (_) @word) . value: (sym_lit name: (_) @name) (#set! words "def defonce")) @constant

(list_lit . value: (sym_lit) @call)
(list_lit . value: (kwd_lit name: (_) @word) value: (vec_lit . value: (sym_lit) @import) (#set! words "require use"))

;; names
(list_lit . value: (sym_lit name: (_) @_define) . value: (sym_lit name: (_) @constant) (#any-of? @_define "def" "defonce"))
(list_lit . value: (sym_lit name: (_) @_define) . value: (sym_lit name: (_) @namespace) (#any-of? @_define "ns" "in-ns"))
(list_lit . value: (sym_lit name: (_) @_define) . value: (sym_lit) value: (list_lit . value: (sym_lit name: (_) @function)) (#any-of? @_define "defprotocol" "definterface"))
(list_lit . value: (sym_lit name: (_) @_define) . value: (sym_lit) . value: (vec_lit value: (sym_lit name: (_) @field)) (#any-of? @_define "defrecord" "deftype"))
