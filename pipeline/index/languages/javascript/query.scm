; What JavaScript and TypeScript share.
(function_declaration name: (_) @name body: (_) @body) @function
(generator_function_declaration name: (_) @name body: (_) @body) @function
(method_definition name: (_) @name body: (_) @body) @function
(variable_declarator
  name: (identifier) @name
  value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) @function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class
(variable_declarator name: (identifier) @name value: (object)) @scope
(assignment_expression
  left: [(identifier) (member_expression)] @name
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) @function
(assignment_expression left: (member_expression) @name right: (class body: (_) @body)) @class
(assignment_expression left: (member_expression) @name right: (object)) @scope
(pair
  key: [(property_identifier) (string)] @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function
(export_statement "default" @name value: (arrow_function body: (_) @body)) @function
(export_statement "default" @name value: (function_expression body: (_) @body)) @function
(export_statement "default" @name value: (class body: (_) @body)) @class

((import_statement
  (import_clause (identifier) @alias @import) source: (string (string_fragment) @module))
  (#set! name "default"))
(import_statement
  (import_clause (namespace_import (identifier) @alias) @import)
  source: (string (string_fragment) @module))
(import_statement
  (import_clause (named_imports (import_specifier name: (_) @name alias: (_)? @alias) @import))
  source: (string (string_fragment) @module))
(import_statement . source: (string (string_fragment) @module)) @import
(export_statement
  (export_clause (export_specifier name: (_) @name alias: (_)? @alias) @import)
  source: (string (string_fragment) @module))
(export_statement
  (namespace_export (_) @alias) @import source: (string (string_fragment) @module))
((export_statement "*" source: (string (string_fragment) @module)) @import (#set! name "*"))

; Renamings within the file: the module is "".
((export_statement
  !source (export_clause (export_specifier name: (_) @name alias: (_) @alias) @import))
  (#set! module ""))
((export_statement "default" value: (identifier) @name @import)
  (#set! module "") (#set! alias "default"))
((export_statement "default" declaration: (_ name: (_) @name @import))
  (#set! module "") (#set! alias "default"))
((assignment_expression left: (member_expression) @_left right: (identifier) @name @import)
  (#eq? @_left "module.exports") (#set! module "") (#set! alias "default"))
((assignment_expression
  left: (member_expression object: (_) @_left property: (property_identifier) @alias)
  right: (identifier) @name @import)
  (#any-of? @_left "module.exports" "exports") (#set! module ""))
((assignment_expression
  left: (member_expression) @_left
  right: (object (pair key: (property_identifier) @alias value: (identifier) @name) @import))
  (#eq? @_left "module.exports") (#set! module ""))

((assignment_expression
  left: (member_expression) @_left
  right: (object [
    (shorthand_property_identifier) @export
    (pair key: (property_identifier) @export)
    (method_definition name: (property_identifier) @export)]))
  (#eq? @_left "module.exports"))
((assignment_expression
  left: (member_expression object: (_) @_left property: (property_identifier) @export))
  (#any-of? @_left "module.exports" "exports"))

; CommonJS; the last pattern is for a call whose value is not named.
((variable_declarator
  name: (object_pattern [
    (shorthand_property_identifier_pattern) @name
    (pair_pattern key: (_) @name value: (identifier) @alias)])
  value: (call_expression
    function: (identifier) @_require
    arguments: (arguments . (string (string_fragment) @module) .)) @import)
  (#eq? @_require "require"))
((variable_declarator
  name: (identifier) @alias
  value: (member_expression
    object: (call_expression
      function: (identifier) @_require
      arguments: (arguments . (string (string_fragment) @module) .)) @import
    property: (_) @name))
  (#eq? @_require "require"))
((variable_declarator
  name: (identifier) @alias
  value: (call_expression
    function: (identifier) @_require
    arguments: (arguments . (string (string_fragment) @module) .)) @import)
  (#eq? @_require "require"))
((assignment_expression
  left: (member_expression object: (_) @_left property: (property_identifier) @alias)
  right: (call_expression
    function: (identifier) @_require
    arguments: (arguments . (string (string_fragment) @module) .)) @import)
  (#eq? @_require "require") (#any-of? @_left "module.exports" "exports"))
((assignment_expression
  left: (member_expression) @_left
  right: (call_expression
    function: (identifier) @_require
    arguments: (arguments . (string (string_fragment) @module) .)) @import)
  (#eq? @_require "require") (#eq? @_left "module.exports") (#set! alias "default"))
((call_expression
  function: (identifier) @_require
  arguments: (arguments . (string (string_fragment) @module) .)) @import
  (#eq? @_require "require"))
(call_expression
  function: (import) arguments: (arguments . (string (string_fragment) @module))) @import

(export_statement declaration: (_ name: (_) @export))
(export_statement declaration: (_ (variable_declarator name: (identifier) @export)))
(export_specifier name: (_) @export !alias)
(export_specifier alias: (_) @export)
(namespace_export (_) @export)

(call_expression function: (_) @call)
(new_expression constructor: (_) @call)
(decorator [(identifier) (member_expression)] @call)

(string (string_fragment) @string)
(template_string (string_fragment) @string)
(regex pattern: (_) @string)

; Names that parameters and variables get.
(arrow_function parameter: (identifier) @bind)
(variable_declarator name: (identifier) @bind)
(assignment_pattern left: (identifier) @bind)
(array_pattern (identifier) @bind)
(rest_pattern (identifier) @bind)
(object_pattern (shorthand_property_identifier_pattern) @bind)
(object_assignment_pattern left: (shorthand_property_identifier_pattern) @bind)
(pair_pattern value: (identifier) @bind)
(catch_clause parameter: (identifier) @bind)
(for_in_statement left: (identifier) @bind)
