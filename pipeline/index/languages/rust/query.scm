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
