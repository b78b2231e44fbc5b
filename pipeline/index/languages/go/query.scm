(function_declaration name: (_) @name body: (_)? @body) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @owner
    (pointer_type (type_identifier) @owner)
    (generic_type type: (type_identifier) @owner)
    (pointer_type (generic_type type: (type_identifier) @owner))]))
  name: (_) @name body: (_)? @body) @function
(type_spec
  name: (_) @name
  type: (struct_type (field_declaration_list
    (field_declaration !name type: [
      (type_identifier) (qualified_type)
      (generic_type)] @base)) @body)) @class
(type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @class
(type_spec
  name: (_) @name
  type: (interface_type (type_elem . [(type_identifier) (qualified_type)] @base .))) @class
(type_spec name: (_) @name type: (interface_type)) @class
(type_spec name: (_) @name) @class
(type_alias name: (_) @name) @class
(method_elem name: (_) @name) @function
(var_spec
  name: (identifier) @name
  value: (expression_list . (func_literal body: (_) @body) .)) @function

(import_spec name: (_)? @alias path: (_ (_) @module)) @import

(call_expression function: (_) @call)
(composite_literal type: [(type_identifier) (qualified_type)] @call)
(composite_literal type: (generic_type type: (_) @call))
; `f[int](x)` reads like a conversion to a generic type, `f[int](x, y)` like an element.
(call_expression function: (index_expression operand: [(identifier) (selector_expression)] @call))
(type_conversion_expression type: (generic_type type: (_) @call))

(interpreted_string_literal_content) @string
(raw_string_literal_content) @string
(import_spec path: (_ (_) @skip))

; Names that parameters and variables get.
(parameter_declaration name: (identifier) @bind)
(variadic_parameter_declaration name: (identifier) @bind)
(short_var_declaration left: (expression_list (identifier) @bind))
(var_spec name: (identifier) @bind)
(range_clause left: (expression_list (identifier) @bind))
(receive_statement left: (expression_list (identifier) @bind))
(type_switch_statement alias: (expression_list (identifier) @bind))
