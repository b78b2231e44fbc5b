; A component is called by being written as an element; lower-case names are the browser's.
((jsx_opening_element name: (_) @call) (#match? @call "^[A-Z]"))
((jsx_self_closing_element name: (_) @call) (#match? @call "^[A-Z]"))
(jsx_text) @string
