(class_declaration name: (_) @name (superclass (_) @base) body: (_) @body) @class
(class_declaration name: (_) @name (super_interfaces (type_list (_) @base)) body: (_) @body) @class
(class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration
  name: (_) @name (extends_interfaces (type_list (_) @base)) body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @class
(enum_declaration
  name: (_) @name interfaces: (super_interfaces (type_list (_) @base)) body: (_) @body) @class
(enum_declaration name: (_) @name body: (_) @body) @class
(record_declaration
  name: (_) @name interfaces: (super_interfaces (type_list (_) @base)) body: (_) @body) @class
(record_declaration name: (_) @name body: (_) @body) @class
(annotation_type_declaration name: (_) @name body: (_) @body) @class
(method_declaration name: (_) @name body: (_)? @body) @function
(constructor_declaration name: (_) @name body: (_) @body) @function
(compact_constructor_declaration name: (_) @name body: (_) @body) @function

(import_declaration (_) @path (asterisk) @all) @import
(import_declaration (_) @path) @import

((method_invocation) @call (#set! until "name"))
(object_creation_expression type: (_) @call)
(method_reference) @call
(explicit_constructor_invocation constructor: (super) @call)

(string_literal (string_fragment) @string)
(string_literal (multiline_string_fragment) @string)

; Names that parameters and variables get.
(formal_parameter name: (identifier) @bind)
(spread_parameter (variable_declarator name: (identifier) @bind))
(variable_declarator name: (identifier) @bind)
(catch_formal_parameter name: (identifier) @bind)
(enhanced_for_statement name: (identifier) @bind)
(resource name: (identifier) @bind)
(inferred_parameters (identifier) @bind)
(lambda_expression parameters: (identifier) @bind)
(instanceof_expression name: (identifier) @bind)
