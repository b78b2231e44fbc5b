(class_declaration
  name: (_) @name
  (class_heritage
    (extends_clause value: (_) @base)?
    (implements_clause (_) @base (_)* @base)?)?
  body: (_) @body) @class
(abstract_class_declaration
  name: (_) @name
  (class_heritage
    (extends_clause value: (_) @base)?
    (implements_clause (_) @base (_)* @base)?)?
  body: (_) @body) @class
(interface_declaration
  name: (_) @name (extends_type_clause (_) @base (_)* @base)? body: (_) @body) @class
(enum_declaration name: (_) @name body: (_) @body) @class
(type_alias_declaration name: (_) @name value: (_) @body) @class
(internal_module name: (_) @name body: (_)) @scope
(function_signature name: (_) @name) @function
(abstract_method_signature name: (_) @name) @function
; In a class a signature is an overload of what has a body.
(interface_body (method_signature name: (_) @name) @function)
(interface_body
  (property_signature name: (_) @name type: (type_annotation (function_type))) @function)
(public_field_definition
  name: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function
(import_statement
  (import_require_clause (identifier) @alias source: (string (string_fragment) @module))) @import

(required_parameter pattern: (identifier) @bind)
(optional_parameter pattern: (identifier) @bind)
