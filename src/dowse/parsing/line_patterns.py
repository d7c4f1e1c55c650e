"""Names by patterns of lines, as ctags finds them: for languages without a grammar, or with one that fails.

To add a language, add a row. Every pattern starts at the start of a line and has one group, the name. None may
repeat a group that repeats, and no more than the start of a line is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

# (pattern, kind)
_Rules = tuple[tuple[str, str], ...]

# Names below these are qualified by them, up to the next one.
_SCOPES = frozenset(["section", "table"])

_LISP: _Rules = (
    (r"[ \t]*\((?:cl-)?def(?:un|method|generic|subst|alias|ine-inline)\*?[ \t]+'?([^\s()]+)", "function"),
    (r"[ \t]*\((?:cl-)?def(?:macro|ine-compiler-macro|setf)\*?[ \t]+([^\s()]+)", "macro"),
    (r"[ \t]*\(def(?:var|parameter|custom|var-local|face|group)[ \t]+([^\s()]+)", "variable"),
    (r"[ \t]*\(defconst(?:ant)?[ \t]+([^\s()]+)", "constant"),
    (r"[ \t]*\((?:cl-)?def(?:class|struct|type)[ \t]+\(?([^\s()]+)", "class"),
    (
        r"[ \t]*\(define-(?:derived-mode|minor-mode|globalized-minor-mode|error|obsolete-\w+-alias)[ \t]+'?([^\s()]+)",
        "function",
    ),
    (r"[ \t]*\(defpackage[ \t]+[#:\"]*([^\s()\"]+)", "namespace"),
)
_CSS: _Rules = (
    (r"[ \t]*(--[\w-]+)[ \t]*:", "property"),
    (r"[ \t]*\.([A-Za-z_][\w-]*)[^;\n]*[{,]", "class"),
    (r"[ \t]*#([A-Za-z_][\w-]*)[^;\n]*[{,]", "key"),
    (r"[ \t]*@(?:-\w+-)?(?:keyframes|layer|container)[ \t]+([\w-]+)", "property"),
)
_ML: _Rules = (
    (r"(?:type|data|newtype)[ \t]+(?:alias[ \t]+)?([A-Z]\w*)", "type"),
    (r"class[ \t]+(?:[^\n]*=>[ \t]*)?([A-Z]\w*)", "class"),
    (r"([a-z_][\w']*)[ \t]*::?[ \t]", "function"),
)
_COLUMN_TYPES = (
    "(?:big|small|tiny|medium)?(?:int|serial)(?:eger|[0-9])?|varchar2?|n?char|character|n?text|bool(?:ean)?|date"
    "|datetime2?|timestamp|timestamptz|time|decimal|numeric|number|float|double|real|money|blob|bytea|binary"
    "|varbinary|uuid|uniqueidentifier|jsonb?|xml|bit|enum|interval|inet|clob|citext|geometry|geography|point"
)

PATTERNS: dict[str, _Rules] = {
    "ada": (
        (r"[ \t]*(?:overriding[ \t]+)?(?:procedure|function)[ \t]+\"?([\w.]+)", "function"),
        (r"[ \t]*package[ \t]+(?:body[ \t]+)?([\w.]+)", "namespace"),
        (r"[ \t]*(?:sub)?type[ \t]+(\w+)", "type"),
        (r"[ \t]*(?:task|protected)[ \t]+(?:type[ \t]+|body[ \t]+)?(\w+)", "class"),
        (r"[ \t]*(\w+)[ \t]*:[ \t]*constant\b", "constant"),
        (r"[ \t]*(\w+)[ \t]*:[ \t]*exception\b", "constant"),
    ),
    "asciidoc": ((r"={1,6}[ \t]+([^\n]{1,120})", "section"), (r"\[\[([^\],\n]+)", "key"), (r"\[#([\w-]+)", "key"), (r":([\w-]+):[ \t]", "variable")),
    "assembly": (
        (r"([A-Za-z_.$][\w.$@]*):", "function"),
        (r"[ \t]*\.?(?:macro|MACRO)[ \t]+(\w+)", "macro"),
        (r"%(?:i?macro|i?define)[ \t]+(\w+)", "macro"),
        (r"[ \t]*#[ \t]*define[ \t]+(\w+)", "macro"),
        (r"[ \t]*\.(?:equ|set)[ \t]+(\w+)", "constant"),
        (r"(\w+)[ \t]+(?:equ|EQU|proc|PROC)\b", "constant"),
    ),
    "awk": ((r"[ \t]*func(?:tion)?[ \t]+(\w+)", "function"),),
    "batch": ((r"[ \t]*:([A-Za-z_]\w*)", "function"), (r"[ \t]*(?:@?set|SET)[ \t]+\"?(\w+)=", "variable")),
    "cmake": (
        (r"[ \t]*function[ \t]*\([ \t]*([\w-]+)", "function"),
        (r"[ \t]*macro[ \t]*\([ \t]*([\w-]+)", "macro"),
        (r"[ \t]*(?:set|option)[ \t]*\([ \t]*([\w-]+)", "variable"),
        (r"[ \t]*(?:add_(?:executable|library|custom_target)|project)[ \t]*\([ \t]*([\w.+:-]+)", "key"),
    ),
    "cobol": (
        (r".{0,7}[ \t]*program-id\.[ \t]*([\w-]+)", "namespace"),
        (r".{0,7}([A-Za-z][\w-]*)[ \t]+section\.", "function"),
        (r".{7}([A-Za-z0-9][\w-]*)\.[ \t]*$", "function"),
        (r".{0,7}[ \t]*\d{2}[ \t]+([A-Za-z][\w-]*)", "field"),
    ),
    "coffeescript": (
        (r"[ \t]*class[ \t]+([\w.$]+)", "class"),
        (r"[ \t]*@?([\w.$]+)[ \t]*[:=][ \t]*(?:\([^)\n]*\)[ \t]*)?[-=]>", "function"),
        (r"([\w$]+)[ \t]*=[^=\n]", "variable"),
    ),
    "crystal": (
        (r"[ \t]*(?:private[ \t]+|protected[ \t]+|abstract[ \t]+)*def[ \t]+(?:self\.)?([\w?!=]+)", "function"),
        (r"[ \t]*(?:private[ \t]+|abstract[ \t]+)*(?:class|struct)[ \t]+([\w:]+)", "class"),
        (r"[ \t]*(?:module|lib)[ \t]+([\w:]+)", "namespace"),
        (r"[ \t]*enum[ \t]+([\w:]+)", "enum"),
        (r"[ \t]*(?:private[ \t]+)?macro[ \t]+(\w+)", "macro"),
        (r"[ \t]*(?:class_)?(?:property|getter|setter)[?!]?[ \t]+(\w+)", "property"),
        (r"[ \t]*alias[ \t]+(\w+)", "alias"),
        (r"[ \t]*([A-Z][A-Z0-9_]*)[ \t]*=", "constant"),
    ),
    "css": _CSS,
    "cython": (
        (r"[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)", "function"),
        (r"[ \t]*cp?def[ \t]+(?:[\w.*\[\], ]+[ \t*]+)?(\w+)[ \t]*\(", "function"),
        (r"[ \t]*(?:cdef[ \t]+|cpdef[ \t]+)?(?:class|struct|enum|union|cppclass)[ \t]+(\w+)", "class"),
        (r"[ \t]*ctypedef[ \t]+[^\n(]*?(\w+)[ \t]*$", "alias"),
        (r"([A-Z][A-Z0-9_]*)[ \t]*=", "constant"),
    ),
    "d": (
        (r"module[ \t]+([\w.]+)", "namespace"),
        (r"[ \t]*(?:[a-z]+[ \t]+)*(?:class|interface)[ \t]+(\w+)", "class"),
        (r"[ \t]*(?:[a-z]+[ \t]+)*(?:struct|union|template)[ \t]+(\w+)", "struct"),
        (r"[ \t]*(?:[a-z]+[ \t]+)*enum[ \t]+(\w+)", "enum"),
        (r"[ \t]*alias[ \t]+(\w+)[ \t]*=", "alias"),
        (r"[ \t]*(?!return\b|else\b|new\b)[A-Za-z_][\w.!\[\]*() ]{0,80}[ \t*](\w+)[ \t]*\([^;\n]*\)[^;\n]*(?:\{|$)", "function"),
    ),
    "dockerfile": (
        (r"[ \t]*FROM[ \t][^\n]*[ \t]AS[ \t]+([\w.-]+)", "key"),
        (r"[ \t]*(?:ARG|ENV)[ \t]+([A-Za-z_]\w*)", "variable"),
    ),
    "dtd": ((r"[ \t]*<!ELEMENT[ \t]+([\w:.-]+)", "key"), (r"[ \t]*<!ENTITY[ \t]+(?:%[ \t]+)?([\w:.-]+)", "constant")),
    "elm": (
        (r"(?:port[ \t]+)?module[ \t]+([\w.]+)", "namespace"),
        *_ML,
        (r"([a-z]\w*)[ \t][^=:\n]*=", "function"),
    ),
    "emacs-lisp": _LISP,
    "env": ((r"[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=", "key"),),
    "fish": ((r"[ \t]*function[ \t]+([\w.:+-]+)", "function"), (r"[ \t]*alias[ \t]+(\w+)", "alias"), (r"set[ \t]+(?:-\w+[ \t]+)*([A-Za-z_]\w*)", "variable")),
    "fsharp": (
        (r"[ \t]*(?:module|namespace)[ \t]+(?:rec[ \t]+|private[ \t]+|internal[ \t]+|public[ \t]+)*([\w.]+)", "namespace"),
        (r"[ \t]*(?:type|and)[ \t]+(?:private[ \t]+|internal[ \t]+|public[ \t]+)?([A-Z]\w*)", "type"),
        (r"[ \t]*exception[ \t]+(\w+)", "type"),
        (r"(?:    )?(?:let|and)[ \t]+(?:rec[ \t]+|inline[ \t]+|private[ \t]+|internal[ \t]+|mutable[ \t]+)*(\w+)", "function"),
        (r"[ \t]*(?:static[ \t]+)?(?:member|abstract|override|default)[ \t]+(?:(?:val|inline|private|internal)[ \t]+)*(?:\w+\.)?(\w+)", "method"),
        (r"[ \t]*\|[ \t]*([A-Z]\w*)[ \t]*(?:of\b[^\n>]*|=[ \t]*-?\d+[ \t]*)?$", "enumerator"),
    ),
    "gleam": (
        (r"(?:pub[ \t]+)?fn[ \t]+(\w+)", "function"),
        (r"(?:pub[ \t]+)?(?:opaque[ \t]+)?type[ \t]+(\w+)", "type"),
        (r"(?:pub[ \t]+)?const[ \t]+(\w+)", "constant"),
        (r"[ \t]+([A-Z]\w*)(?:\([^)\n]*\))?[ \t]*$", "enumerator"),
    ),
    "glsl": (
        (r"[ \t]*#[ \t]*define[ \t]+(\w+)", "macro"),
        (r"[ \t]*(?:struct|cbuffer)[ \t]+(\w+)", "struct"),
        (r"[ \t]*(?:layout[ \t]*\([^)\n]*\)[ \t]*)?(?:uniform|varying|attribute|in|out|const|flat)[ \t]+[\w \t<>]*?[ \t](\w+)[ \t]*(?:\[[^\]\n]*\])?[ \t]*[;=]", "variable"),
        (r"(?:@\w+[ \t]+)*(?:fn[ \t]+)(\w+)", "function"),
        (r"(?!return\b|else\b)[A-Za-z]\w*[ \t]+(\w+)[ \t]*\([^;\n]*(?:\{|$)", "function"),
    ),
    "go-module": ((r"module[ \t]+(\S+)", "namespace"),),
    "gotmpl": ((r"[^\n{]*\{\{-?[ \t]*(?:define|block)[ \t]+\"([^\"\n]+)\"", "function"),),
    "handlebars": ((r"[ \t]*\{\{#\*inline[ \t]+[\"']([^\"'\n]+)", "function"),),
    "html": ((r"[^\n]*?[ \t]id[ \t]*=[ \t]*[\"']([^\"'\s<>]+)", "key"),),
    "ini": (
        (r"[ \t]*\[([^\]\n]+)\]", "section"),
        (r"[ \t]*([\w][\w.@/ -]*?)[ \t]*[=:]", "key"),
    ),
    "jinja": (
        (r"[^\n{]*\{%-?[ \t]*macro[ \t]+(\w+)", "function"),
        (r"[^\n{]*\{%-?[ \t]*block[ \t]+(\w+)", "key"),
        (r"[^\n{]*\{%-?[ \t]*set[ \t]+(\w+)", "variable"),
    ),
    "jsonnet": (
        (r"[ \t]*local[ \t]+(\w+)[ \t]*(?:\(|=[ \t]*function)", "function"),
        (r"[ \t]*local[ \t]+(\w+)[ \t]*=", "variable"),
        (r"[ \t]*[\"']?([A-Za-z_][\w-]*)[\"']?(?:\([^)\n]*\))?[ \t]*\+?::?:?[ \t]", "key"),
    ),
    "just": (
        (r"@?([A-Za-z_][\w-]*)(?:[ \t]+[^:\n]*)?:(?!=)", "function"),
        (r"(?:export[ \t]+)?([A-Za-z_][\w-]*)[ \t]*:=", "variable"),
        (r"alias[ \t]+([\w-]+)", "alias"),
    ),
    "kdl": ((r"[ \t]*([A-Za-z_][\w.-]*)(?:[ \t{]|$)", "key"),),
    "less": (*_CSS, (r"[ \t]*@(?!media|import|font-face|supports)([\w-]+)[ \t]*:", "variable")),
    "lisp": _LISP,
    "literate-haskell": (
        (r">[ \t]?(?:type|data|newtype)[ \t]+([A-Z]\w*)", "type"),
        (r">[ \t]?class[ \t]+(?:[^\n]*=>[ \t]*)?([A-Z]\w*)", "class"),
        (r">[ \t]?([a-z_][\w']*)[ \t]*::[ \t]", "function"),
        (r"(?:type|data|newtype)[ \t]+([A-Z]\w*)", "type"),
        (r"([a-z_][\w']*)[ \t]*::[ \t]", "function"),
    ),
    "make": (
        (r"define[ \t]+([\w.-]+)", "macro"),
        (r"[ \t]*(?:export[ \t]+|override[ \t]+|private[ \t]+)*([A-Za-z_.][\w.-]*)[ \t]*(?:[?+!]|:{1,3})?=", "variable"),
        (r"(?!\.[A-Z])([\w./%$(][\w./%$()+-]*)(?:[ \t]+[^:=\n]*)?[ \t]*::?(?![=:])", "function"),
    ),
    "m4": (
        (r"[ \t]*(?:AC_DEFUN(?:_ONCE)?|AU_DEFUN|m4_define|define)[ \t]*\([ \t]*[\[`]*(\w+)", "macro"),
        (r"[ \t]*(?:AC_ARG_ENABLE|AC_ARG_WITH|AC_ARG_VAR|AM_CONDITIONAL|AC_SUBST)[ \t]*\([ \t]*\[*([\w-]+)", "variable"),
        (r"[ \t]*AC_INIT[ \t]*\([ \t]*\[*([\w-]+)", "namespace"),
    ),
    "matlab": (
        (r"[ \t]*function[ \t]+(?:[^=\n]*=[ \t]*)?([\w.]+)", "function"),
        (r"[ \t]*classdef[ \t]+(?:\([^)\n]*\)[ \t]*)?(\w+)", "class"),
    ),
    "nim": (
        (r"[ \t]*(?:proc|func|method|iterator|converter)[ \t]+`?(\w+)", "function"),
        (r"[ \t]*(?:macro|template)[ \t]+`?(\w+)", "macro"),
        (r"[ \t]*(?:type[ \t]+)?(\w+)\*?(?:\[[^\]\n]*\])?[ \t]*(?:\{\.[^\n]*\.\}[ \t]*)?=[ \t]*(?:ref[ \t]+|ptr[ \t]+)?(?:object|enum|tuple|distinct|concept)\b", "type"),
        (r"(?:const|let|var)[ \t]+(\w+)", "constant"),
        (r"[ \t]+(\w+)\*[ \t]*:", "field"),
    ),
    "nix": ((r"[ \t]*([A-Za-z_][\w'.-]*)[ \t]*=[^=]", "key"),),
    "objective-c": (
        (r"[ \t]*@(?:interface|implementation)[ \t]+(\w+)", "class"),
        (r"[ \t]*@protocol[ \t]+(\w+)[ \t]*(?:<[^>\n]*>)?[ \t]*$", "interface"),
        (r"[ \t]*[-+][ \t]*\([^)\n]*\)[ \t]*(\w+)", "prototype"),
        (r"[ \t]*@property\b[^;\n]*?(\w+)[ \t]*;", "property"),
        (r"[ \t]*typedef[ \t]+NS_\w+[ \t]*\([^,\n]*,[ \t]*(\w+)", "enum"),
    ),
    "org": ((r"\*+[ \t]+(?:TODO[ \t]+|DONE[ \t]+)?([^\n]{1,120}?)[ \t]*(?::[\w:@]+:)?[ \t]*$", "section"), (r"#\+name:[ \t]*(\S+)", "key")),
    "pascal": (
        (r"[ \t]*(?:class[ \t]+)?(?:procedure|function|constructor|destructor)[ \t]+([\w.]+)", "function"),
        (r"[ \t]*(?:unit|program|library)[ \t]+([\w.]+)", "namespace"),
        (r"[ \t]*(\w+)(?:<[^>\n]*>)?[ \t]*=[ \t]*(?:packed[ \t]+)?(?:class|record|object|interface)\b", "class"),
        (r"[ \t]*property[ \t]+(\w+)", "property"),
        (r"[ \t]+(\w+)[ \t]*=[ \t]*\([\w, \t]+\)[ \t]*;", "enum"),
        (r"[ \t]+(\w+)[ \t]*=[ \t]*[^;\n]+;", "constant"),
    ),
    "perl": ((r"[ \t]*sub[ \t]+([\w:']+)", "function"), (r"[ \t]*package[ \t]+([\w:]+)", "namespace")),
    "powershell": (
        (r"[ \t]*(?:function|filter|workflow)[ \t]+(?:(?:global|script|local|private):)?([\w-]+)", "function"),
        (r"[ \t]*class[ \t]+(\w+)", "class"),
    ),
    "pug": ((r"[ \t]*mixin[ \t]+([\w-]+)", "function"), (r"[ \t]*block[ \t]+(?:append[ \t]+|prepend[ \t]+)?([\w-]+)", "key")),
    "purescript": ((r"module[ \t]+([\w.]+)", "namespace"), *_ML),
    "reason": (
        (r"[ \t]*let[ \t]+(?:rec[ \t]+)?(\w+)[ \t]*(?::[^=\n]*)?=[ \t]*(?:\([^\n]*=>|\w+[ \t]*=>)", "function"),
        (r"let[ \t]+(?:rec[ \t]+)?(\w+)", "variable"),
        (r"[ \t]*(?:module|module[ \t]+type)[ \t]+(\w+)", "namespace"),
        (r"[ \t]*type[ \t]+(\w+)", "type"),
        (r"[ \t]*external[ \t]+(\w+)", "prototype"),
    ),
    "restructuredtext": (
        (r"\.\.[ \t]+_`?([^:`\n]+)`?:", "key"),
        (r"[ \t]*\.\.[ \t]+(?:[\w-]+:)?(?:function|method|class|module|data|attribute|exception|option)::[ \t]+([\w.-]+)", "prototype"),
    ),
    "scss": (
        *_CSS,
        (r"[ \t]*\$([\w-]+)[ \t]*:", "variable"),
        (r"[ \t]*(?:@mixin|=)[ \t]*([\w-]+)", "function"),
        (r"[ \t]*@function[ \t]+([\w-]+)", "function"),
        (r"[ \t]*%([\w-]+)", "class"),
    ),
    "sql": (
        (r"[ \t]*create[ \t]+(?:(?:global|local|temp|temporary|unlogged|external|foreign)[ \t]+)*table[ \t]+(?:if[ \t]+not[ \t]+exists[ \t]+)?([\w.\"`\[\]]+)", "table"),
        (r"[ \t]*create[ \t]+(?:or[ \t]+replace[ \t]+)?(?:temp[ \t]+|temporary[ \t]+|materialized[ \t]+|recursive[ \t]+)*view[ \t]+(?:if[ \t]+not[ \t]+exists[ \t]+)?([\w.\"`\[\]]+)", "table"),
        (r"[ \t]*create[ \t]+(?:or[ \t]+(?:replace|alter)[ \t]+)?(?:definer[ \t]*=[ \t]*\S+[ \t]+)?(?:function|procedure|proc|trigger|aggregate|package(?:[ \t]+body)?)[ \t]+(?:if[ \t]+not[ \t]+exists[ \t]+)?([\w.\"`\[\]]+)", "function"),
        (r"[ \t]*create[ \t]+(?:unique[ \t]+|clustered[ \t]+|nonclustered[ \t]+)*index[ \t]+(?:concurrently[ \t]+)?(?:if[ \t]+not[ \t]+exists[ \t]+)?([\w.\"`\[\]]+)", "property"),
        (r"[ \t]*create[ \t]+(?:type|domain|sequence|schema|role|extension)[ \t]+(?:if[ \t]+not[ \t]+exists[ \t]+)?([\w.\"`\[\]-]+)", "type"),
        (r"[ \t]*alter[ \t]+table[ \t][^\n]*?[ \t]add[ \t]+(?:column[ \t]+)?(?:if[ \t]+not[ \t]+exists[ \t]+)?(?!constraint|primary|foreign|unique|index|check)([\w\"`\[\]]+)", "field"),
        (rf"[ \t]+,?[ \t]*([\w\"`\[\]]+)[ \t]+(?:{_COLUMN_TYPES})\b", "column"),
    ),
    "tcl": (
        (r"[ \t]*proc[ \t]+([^\s{}]+)", "function"),
        (r"[ \t]*(?:oo::class[ \t]+create|(?:itcl::)?class)[ \t]+([^\s{}]+)", "class"),
        (r"[ \t]*(?:method|constructor)[ \t]+([^\s{}]+)", "method"),
        (r"[ \t]*namespace[ \t]+eval[ \t]+([^\s{}]+)", "namespace"),
        (r"set[ \t]+([A-Za-z_:][\w:]*)", "variable"),
    ),
    "terraform": (
        (r"[ \t]*(?:resource|data)[ \t]+\"[^\"\n]+\"[ \t]+\"([^\"\n]+)\"", "key"),
        (r"[ \t]*(?:variable|output|module|provider)[ \t]+\"([^\"\n]+)\"", "variable"),
        (r"(?:[ \t]{2})?([A-Za-z_]\w*)[ \t]*=[^=>]", "key"),
    ),
    "tex": (
        (r"[^\n%]*?\\label[ \t]*\{([^}\n]+)\}", "key"),
        (r"[ \t]*\\(?:re)?newcommand\*?[ \t]*\{?\\(\w+)", "macro"),
        (r"[ \t]*\\(?:def|let)[ \t]*\\(\w+)", "macro"),
        (r"[ \t]*\\(?:re)?newenvironment[ \t]*\{([^}\n]+)\}", "macro"),
        (r"[ \t]*\\(?:chapter|(?:sub){0,2}section|part)\*?[ \t]*\{([^}\n]+)\}", "section"),
        (r"[ \t]*@\w+[ \t]*\{[ \t]*([^\s,}]+)[ \t]*,", "key"),
    ),
    "thrift": (
        (r"[ \t]*(?:struct|union|exception)[ \t]+(\w+)", "struct"),
        (r"[ \t]*enum[ \t]+(\w+)", "enum"),
        (r"[ \t]*service[ \t]+(\w+)", "interface"),
        (r"[ \t]*typedef[ \t]+[^\n]*?(\w+)[ \t]*[;,]?[ \t]*$", "alias"),
        (r"[ \t]*const[ \t]+\S+[ \t]+(\w+)", "constant"),
        (r"[ \t]*\d+[ \t]*:[ \t]*(?:required[ \t]+|optional[ \t]+)?[^\s=]+[ \t]+(\w+)", "field"),
        (r"[ \t]+([A-Z][A-Z0-9_]*)[ \t]*=", "enumerator"),
        (r"[ \t]+(?:oneway[ \t]+)?[\w.<>, ]+[ \t]+(\w+)[ \t]*\(", "function"),
    ),
    "toml": (
        (r"[ \t]*\[\[?[ \t]*([^\]\n]+?)[ \t]*\]", "section"),
        (r"[ \t]*\"?([A-Za-z0-9_][\w.-]*)\"?[ \t]*=", "key"),
    ),
    "typst": (
        (r"[ \t]*#?let[ \t]+([\w-]+)[ \t]*\(", "function"),
        (r"[ \t]*#?let[ \t]+([\w-]+)", "variable"),
        (r"[^\n<]*<([A-Za-z][\w:.-]*)>[ \t]*$", "key"),
    ),
    "v": (
        (r"(?:pub[ \t]+)?fn[ \t]+(?:\([^)\n]*\)[ \t]*)?(\w+)", "function"),
        (r"(?:pub[ \t]+)?(?:struct|union)[ \t]+(\w+)", "struct"),
        (r"(?:pub[ \t]+)?enum[ \t]+(\w+)", "enum"),
        (r"(?:pub[ \t]+)?interface[ \t]+(\w+)", "interface"),
        (r"(?:pub[ \t]+)?type[ \t]+(\w+)", "alias"),
        (r"(?:pub[ \t]+)?const[ \t]+(\w+)", "constant"),
    ),
    "verilog": (
        (r"[ \t]*(?:macro)?module[ \t]+(?:automatic[ \t]+|static[ \t]+)?(\w+)", "namespace"),
        (r"[ \t]*(?:virtual[ \t]+)?(?:class|interface|package|program|covergroup)[ \t]+(?:class[ \t]+)?(\w+)", "class"),
        (r"[ \t]*(?:virtual[ \t]+|static[ \t]+|extern[ \t]+|local[ \t]+|protected[ \t]+|pure[ \t]+)*(?:task|function)[ \t]+[^;(\n]*?(\w+)[ \t]*[;(]", "function"),
        (r"[ \t]*`define[ \t]+(\w+)", "macro"),
        (r"[ \t]*(?:local)?param(?:eter)?[ \t]+[^=;\n]*?(\w+)[ \t]*=", "constant"),
        (r"[ \t]*(?:input|output|inout)[ \t]+[^;\n/]*?(\w+)[ \t]*[,;)]?[ \t]*(?://[^\n]*)?$", "variable"),
        (r"[ \t]*(?:wire|reg|logic|integer)\b[^=;\n]*?(\w+)[ \t]*[;=]", "variable"),
        (r"[ \t]*typedef[ \t][^\n]*?(\w+)[ \t]*;", "type"),
        (r"\}[ \t]*(\w+)[ \t]*;", "type"),
    ),
    "vhdl": (
        (r"[ \t]*(?:entity|package(?:[ \t]+body)?|configuration|component)[ \t]+(\w+)", "class"),
        (r"[ \t]*architecture[ \t]+(\w+)", "class"),
        (r"[ \t]*(?:pure[ \t]+|impure[ \t]+)?(?:function|procedure)[ \t]+(\w+)", "function"),
        (r"[ \t]*(?:sub)?type[ \t]+(\w+)", "type"),
        (r"[ \t]*constant[ \t]+(\w+)", "constant"),
        (r"[ \t]*signal[ \t]+(\w+)", "variable"),
        (r"[ \t]*(\w+)[ \t]*:[ \t]*(?:process|block)\b", "function"),
        (r"[ \t]*(\w+)[ \t]*:[ \t]*(?:in|out|inout|buffer)\b", "variable"),
    ),
    "vim": (
        (r"[ \t]*fu(?:n|nc|nct|ncti|nctio|nction)?!?[ \t]+(?:[sg]:|<SID>)?([\w#.]+)", "function"),
        (r"[ \t]*com(?:m|ma|man|mand)?!?[ \t]+(?:-\S+[ \t]+)*([A-Z]\w*)", "macro"),
        (r"let[ \t]+(?:[gsbwtv]:)?(\w+)", "variable"),
        (r"[ \t]*let[ \t]+[gsbwt]:(\w+)", "variable"),
        (r"[ \t]*aug(?:r|ro|rou|roup)?[ \t]+(?!END)(\w+)", "key"),
    ),
    "visual-basic": (
        (r"[ \t]*(?:(?:public|private|friend|protected|shared|overrides|overridable|overloads|static|async|partial|mustoverride|notoverridable)[ \t]+)*(?:sub|function)[ \t]+(\w+)", "function"),
        (r"[ \t]*(?:(?:public|private|friend|protected|partial|mustinherit|notinheritable|shared)[ \t]+)*(?:class|module|structure|interface)[ \t]+(\w+)", "class"),
        (r"[ \t]*(?:(?:public|private|friend|protected)[ \t]+)*enum[ \t]+(\w+)", "enum"),
        (r"[ \t]*namespace[ \t]+([\w.]+)", "namespace"),
        (r"[ \t]*(?:(?:public|private|friend|protected|shared|readonly|writeonly|overrides|overridable|default)[ \t]+)*property[ \t]+(?:get[ \t]+|let[ \t]+|set[ \t]+)?(\w+)", "property"),
        (r"[ \t]*(?:(?:public|private|friend|protected)[ \t]+)*const[ \t]+(\w+)", "constant"),
        (r"[ \t]*(?:(?:public|private|friend|protected|shared|readonly|withevents)[ \t]+)+(\w+)[ \t]+as\b", "field"),
    ),
    "wat": (
        (r"[ \t]*\((?:func|export)[ \t]+\$([\w.$-]+)", "function"),
        (r"[ \t]*\((?:global|memory|table|type|import|data)[ \t]+\$([\w.$-]+)", "variable"),
    ),
    "xml": (
        (r"[ \t]*<key>([^<\n]+)</key>", "key"),
        (r"[^\n]*?[ \t](?:id|name|x:Name|android:id|android:name)[ \t]*=[ \t]*[\"']([^\"'<>\n]+)", "key"),
        (r"[ \t]*<xs[dl]?:(?:element|complexType|simpleType|template)[ \t][^>\n]*?name=\"([^\"\n]+)", "type"),
    ),
}  # fmt: skip

_ANY_CASE = frozenset(
    "ada cobol dockerfile html pascal sql vhdl visual-basic cmake asciidoc restructuredtext batch org".split()
)
# Names of several segments, and what separates these.
_SEGMENTS = {
    **dict.fromkeys(
        "ada coffeescript d elm fsharp ini matlab pascal purescript sql toml visual-basic".split(), "."
    ),
    **dict.fromkeys(("crystal", "perl", "tcl"), "::"),
    "vim": "#",
}
_QUOTES = b"\"'`[] \t"
# The start of a line is enough; the rest of a long one is data.
_MAX_LINE = 300


@cache
def _compiled(language: str) -> tuple[re.Pattern[bytes], tuple[str, ...]]:
    rules = PATTERNS[language]
    flags = re.MULTILINE | (re.IGNORECASE if language in _ANY_CASE else re.NOFLAG)
    source = "|".join(pattern for pattern, _ in rules)
    return re.compile(f"(?:{source})".encode(), flags), tuple(kind for _, kind in rules)


def line_names(data: bytes, language: str) -> Iterator[tuple[int, str, str, str]]:
    """Yield the line, kind, name and qualified name of each name that a line defines."""
    pattern, kinds = _compiled(language)
    separator = _SEGMENTS.get(language, "\0")
    match, scope = pattern.match, ""
    for number, line in enumerate(data.split(b"\n"), 1):
        found = match(line.rstrip(b"\r")[:_MAX_LINE]) if line else None
        if not found or not found.lastindex:
            continue
        kind = kinds[found.lastindex - 1]
        name = found[found.lastindex].strip(_QUOTES).decode("utf-8", "ignore")
        if not name:
            continue
        segments = [segment.strip() for segment in name.split(separator) if segment] or [name]
        qualified = ".".join(segments)
        if kind in _SCOPES:
            scope, kind = qualified, "key" if kind == "section" else kind
        elif scope and kind in ("key", "column"):
            qualified = f"{scope}.{qualified}"
        yield number, kind, segments[-1], qualified
