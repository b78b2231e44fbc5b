; Read where the interpreter's own parser refuses: Python 2, unfinished files.
(class_definition
  name: (_) @name
  superclasses: (argument_list [(identifier) (attribute) (subscript)] @base)?
  body: (block . (expression_statement (string (string_content) @doc))?) @body) @class
(function_definition
  name: (_) @name
  body: (block . (expression_statement (string (string_content) @doc))?) @body) @function

(import_statement name: (dotted_name) @module @import)
(import_statement name: (aliased_import name: (_) @module alias: (_) @alias) @import)
(import_from_statement module_name: (_) @module name: (dotted_name) @name @import)
(import_from_statement
  module_name: (_) @module name: (aliased_import name: (_) @name alias: (_) @alias) @import)
((import_from_statement module_name: (_) @module (wildcard_import)) @import (#set! name "*"))

(call function: (_) @call)
(decorator [(identifier) (attribute)] @call)

(assignment
  left: (identifier) @_all right: [(list (string (string_content) @export)) (tuple (string (string_content) @export))]
  (#eq? @_all "__all__"))
(expression_statement . (string (string_content) @skip) .)
(string_content) @string

; Names that parameters and variables get.
(parameters (identifier) @bind)
(lambda_parameters (identifier) @bind)
(default_parameter name: (identifier) @bind)
(typed_parameter (identifier) @bind)
(typed_default_parameter name: (identifier) @bind)
(list_splat_pattern (identifier) @bind)
(dictionary_splat_pattern (identifier) @bind)
(assignment left: (identifier) @bind)
(pattern_list (identifier) @bind)
(tuple_pattern (identifier) @bind)
(for_statement left: (identifier) @bind)
(for_in_clause left: (identifier) @bind)
(as_pattern_target (identifier) @bind)
(named_expression name: (identifier) @bind)
