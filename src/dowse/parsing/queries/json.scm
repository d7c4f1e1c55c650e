; JSON: keys, with the keys around them as their path.
(pair key: (string (string_content) @name) value: [(object) (array)] @body) @scope

;; names
(pair key: (string (string_content) @key))
