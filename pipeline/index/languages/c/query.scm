; What C and C++ share. Prototypes are not definitions.
(function_definition
  declarator: [
    (function_declarator declarator: (_) @name)
    (_ declarator: (function_declarator declarator: (_) @name))
    (_ declarator: (_ declarator: (function_declarator declarator: (_) @name)))
    (_ (function_declarator declarator: (_) @name))
  ]
  body: (_) @body) @function
(struct_specifier name: (_) @name body: (_) @body) @class
(union_specifier name: (_) @name body: (_) @body) @class
(enum_specifier name: (_) @name body: (_) @body) @class
(type_definition
  type: [
    (struct_specifier !name body: (_) @body)
    (union_specifier !name body: (_) @body)
    (enum_specifier !name body: (_) @body)
  ]
  declarator: (type_identifier) @name) @class
(preproc_function_def name: (_) @name value: (_)? @body) @function

(preproc_include path: (_) @module) @import

(call_expression function: (_) @call)

(string_literal (string_content) @string)

; Names that parameters and variables get.
(parameter_declaration declarator: (identifier) @bind)
(declaration declarator: (identifier) @bind)
(init_declarator declarator: (identifier) @bind)
(pointer_declarator declarator: (identifier) @bind)
(array_declarator declarator: (identifier) @bind)
