; Components rendered are components called.
(jsx_opening_element name: (_) @component)
(jsx_self_closing_element name: (_) @component)
