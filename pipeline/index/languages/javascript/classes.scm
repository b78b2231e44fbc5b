(class_declaration name: (_) @name (class_heritage (_) @base)? body: (_) @body) @class
(field_definition
  property: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function
(formal_parameters (identifier) @bind)
