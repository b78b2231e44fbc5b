(function_item name: (_) @name body: (_) @body) @function
(function_signature_item name: (_) @name) @function
(macro_definition name: (_) @name . (_) @body) @function
(struct_item name: (_) @name body: (_)? @body) @class
(enum_item name: (_) @name body: (_) @body) @class
(union_item name: (_) @name body: (_) @body) @class
(trait_item
  name: (_) @name
  bounds: (trait_bounds [(type_identifier) (scoped_type_identifier) (generic_type)] @base)
  body: (_) @body) @class
(trait_item name: (_) @name body: (_) @body) @class
(source_file (type_item name: (_) @name) @class)
(mod_item body: (declaration_list (type_item name: (_) @name) @class))
(mod_item name: (_) @name body: (_)) @scope
; A trait that a type has is a base of it.
(impl_item trait: (_) @base type: (type_identifier) @name) @scope
(impl_item trait: (_) @base type: (generic_type type: (type_identifier) @name)) @scope
(impl_item type: (type_identifier) @name) @scope
(impl_item type: (generic_type type: (type_identifier) @name)) @scope
(impl_item type: (reference_type type: (type_identifier) @name)) @scope
(impl_item type: (reference_type type: (generic_type type: (type_identifier) @name))) @scope
(impl_item type: (scoped_type_identifier name: (_) @name)) @scope

(use_declaration argument: (_) @tree) @import
(mod_item name: (_) @module !body) @import

(call_expression function: (_) @call)
(struct_expression name: (_) @call)
(macro_invocation macro: (_) @call)

(string_literal (string_content) @string)
(raw_string_literal (string_content) @string)

; Names that parameters and variables get.
(parameter pattern: [(identifier) @bind (ref_pattern (identifier) @bind) (mut_pattern (identifier) @bind)])
(closure_parameters (identifier) @bind)
(let_declaration pattern: (identifier) @bind)
(let_condition pattern: (identifier) @bind)
(for_expression pattern: (identifier) @bind)
; In a pattern a capital is a constant or a variant.
((tuple_pattern (identifier) @bind) (#match? @bind "^[a-z_]"))
((slice_pattern (identifier) @bind) (#match? @bind "^[a-z_]"))
((tuple_struct_pattern type: (_) (identifier) @bind) (#match? @bind "^[a-z_]"))
(mut_pattern (identifier) @bind)
(captured_pattern . (identifier) @bind)
(field_pattern name: (shorthand_field_identifier) @bind)
(field_pattern pattern: (identifier) @bind)
