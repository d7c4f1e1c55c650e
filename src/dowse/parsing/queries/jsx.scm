; Components rendered are components called.
(jsx_opening_element name: (_) @component)
(jsx_self_closing_element name: (_) @component)
(jsx_expression (identifier) @value)
(jsx_expression (member_expression object: (this) @on property: (property_identifier) @value))

;; uses
(jsx_opening_element name: (identifier) @tag)
(jsx_self_closing_element name: (identifier) @tag)
(jsx_closing_element name: (identifier) @tag)
(jsx_attribute . (property_identifier) @picked)
