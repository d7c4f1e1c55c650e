"""The query language: lexer, parser, AST and evaluation of boolean queries.

Exact matching (`query.regex`) is imported where it is needed: most queries do not need it.
"""
