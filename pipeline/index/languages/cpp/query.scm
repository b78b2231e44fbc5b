(class_specifier
  name: (_) @name
  (base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)
  body: (_) @body) @class
(struct_specifier
  name: (_) @name
  (base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)
  body: (_) @body) @class
(class_specifier name: (_) @name body: (_) @body) @class
(namespace_definition name: (_) @name body: (_)) @scope
(new_expression type: (_) @call)
(raw_string_literal (raw_string_content) @string)

(optional_parameter_declaration declarator: (identifier) @bind)
(reference_declarator (identifier) @bind)
(for_range_loop declarator: (identifier) @bind)
(structured_binding_declarator (identifier) @bind)
