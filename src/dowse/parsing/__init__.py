"""Parsing with tree-sitter: the definitions of a file and the names it refers to (`parser.parse_file`).

Kinds of definitions: function, method, class, interface, struct, enum, trait, type, module (also the
remainder of a file outside its definitions), macro, constant; section and text without a grammar.
"""
