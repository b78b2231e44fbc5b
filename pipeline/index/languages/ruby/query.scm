((class
  name: (_) @name
  body: (body_statement
    (call method: (_) @_how arguments: (argument_list [(constant) (scope_resolution)] @base)))
) @class (#any-of? @_how "include" "extend" "prepend"))
((module
  name: (_) @name
  body: (body_statement
    (call method: (_) @_how arguments: (argument_list [(constant) (scope_resolution)] @base)))
) @class (#any-of? @_how "include" "extend" "prepend"))
(class name: (_) @name superclass: (superclass [(constant) (scope_resolution)] @base)) @class
(class name: (_) @name) @class
(module name: (_) @name) @class
(method name: (_) @name body: (_)? @body) @function
(singleton_method name: (_) @name body: (_)? @body) @function
((call
  method: (_) @_how arguments: (argument_list . (simple_symbol) @name) block: (_) @body) @function
  (#eq? @_how "define_method"))

((call
  !receiver method: (_) @how
  arguments: (argument_list . (string (string_content) @module) .)) @import
  (#any-of? @how "require" "require_relative" "load"))
((call
  !receiver method: (_) @how
  arguments: (argument_list (simple_symbol) (string (string_content) @module))) @import
  (#eq? @how "autoload"))

((call) @call (#set! until "method"))

(string (string_content) @string)
(heredoc_content) @string

; Names that parameters and variables get.
(method_parameters (identifier) @bind)
(block_parameters (identifier) @bind)
(lambda_parameters (identifier) @bind)
(optional_parameter name: (_) @bind)
(keyword_parameter name: (_) @bind)
(splat_parameter name: (_) @bind)
(hash_splat_parameter name: (_) @bind)
(destructured_parameter (identifier) @bind)
(block_parameter name: (_) @bind)
(assignment left: (identifier) @bind)
(left_assignment_list (identifier) @bind)
(exception_variable (identifier) @bind)
(for pattern: (identifier) @bind)
