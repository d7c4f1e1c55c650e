"""From a file's text to the definitions in it and the names it refers to.

Kinds of definitions: function, method, class, interface, struct, enum, trait, type, module (also the
remainder of a file outside its definitions), macro, constant, impl (of a type from another file);
section and text where there is no grammar. `start_line` and `end_line` tell the whole extent of a
definition, `spans` its own text.
"""

from dowse.parse.files import parse_file
from dowse.parse.languages import LANGUAGES, Language, language_names, language_of

__all__ = ["LANGUAGES", "Language", "language_names", "language_of", "parse_file"]
