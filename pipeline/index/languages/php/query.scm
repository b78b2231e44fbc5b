(class_declaration name: (_) @name (base_clause (_) @base) body: (_) @body) @class
(class_declaration name: (_) @name (class_interface_clause (_) @base) body: (_) @body) @class
(class_declaration
  name: (_) @name body: (declaration_list (use_declaration (_) @base)) @body) @class
(class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name (base_clause (_) @base) body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @class
(trait_declaration name: (_) @name body: (_) @body) @class
(enum_declaration name: (_) @name (class_interface_clause (_) @base) body: (_) @body) @class
(enum_declaration name: (_) @name body: (_) @body) @class
(function_definition name: (_) @name body: (_) @body) @function
(method_declaration name: (_) @name body: (_)? @body) @function

(namespace_use_declaration
  !body (namespace_use_clause . [(qualified_name) (name)] @name alias: (_)? @alias) @import)
(namespace_use_declaration
  (namespace_name) @prefix
  body: (namespace_use_group
    (namespace_use_clause . [(qualified_name) (name) (namespace_name)] @name alias: (_)? @alias)
    @import))
(require_once_expression (string (string_content) @file)) @import
(require_expression (string (string_content) @file)) @import
(include_once_expression (string (string_content) @file)) @import
(include_expression (string (string_content) @file)) @import
(require_once_expression (binary_expression right: (string (string_content) @file))) @import
(require_expression (binary_expression right: (string (string_content) @file))) @import

((function_call_expression function: (_) @call) (#not-match? @call "^\\$"))
((member_call_expression) @call (#set! until "name"))
((nullsafe_member_call_expression) @call (#set! until "name"))
((scoped_call_expression) @call (#set! until "name"))
(object_creation_expression . [(name) (qualified_name)] @call)

(string_content) @string

; What stands behind a dollar is a variable.
(variable_name (name) @bind)
