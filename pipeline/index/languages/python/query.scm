; Read where the interpreter's own parser refuses: Python 2, unfinished files.
(class_definition name: (_) @name superclasses: (argument_list (_) @base)* body: (_) @body) @class
(function_definition name: (_) @name body: (_) @body) @function
