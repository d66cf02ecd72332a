; Definitions
(class_definition name: (identifier) @name body: (block) @body) @define.class
(function_definition name: (identifier) @name body: (block) @body) @define.function
(type_alias_statement left: (type (identifier) @name)) @define.type
(lambda) @scope.function

(decorator (_) @decorator)
(function_definition return_type: (type) @returns)
((class_definition body: (block . (expression_statement . (string) @doc))) (#not-match? @doc "^[fF]"))
((function_definition body: (block . (expression_statement . (string) @doc))) (#not-match? @doc "^[fF]"))

; Parameters
(parameters [(identifier) (list_splat_pattern) (dictionary_splat_pattern)] @name @parameter)
(parameters (typed_parameter . (_) @name type: (type) @type) @parameter)
(parameters (default_parameter name: (_) @name value: (_) @value) @parameter)
(parameters (typed_default_parameter name: (_) @name type: (type) @type value: (_) @value) @parameter)

; Bases
(class_definition superclasses: (argument_list [(identifier) (attribute) (subscript) (call)] @extends))

; Calls
(call function: (identifier) @name arguments: (_) @arguments) @call
(call function: (attribute object: (_) @receiver attribute: (identifier) @name) arguments: (_) @arguments) @call

; Imports
(import_statement name: (dotted_name) @module) @import
(import_statement name: (aliased_import name: (_) @module alias: (_) @alias)) @import
(import_from_statement module_name: (_) @module name: (dotted_name) @name) @import
(import_from_statement module_name: (_) @module name: (aliased_import name: (_) @name alias: (_) @alias)) @import
(import_from_statement module_name: (_) @module (wildcard_import) @name) @import
(future_import_statement "__future__" @module name: (dotted_name) @name) @import
(future_import_statement "__future__" @module name: (aliased_import name: (_) @name alias: (_) @alias)) @import

; Exceptions
(raise_statement . [(identifier) (attribute)] @raised)
(raise_statement . (call function: [(identifier) (attribute)] @raised))
(except_clause value: [(identifier) (attribute)] @caught)
(except_clause value: (tuple [(identifier) (attribute)] @caught))
(except_clause value: (as_pattern . [(identifier) (attribute)] @caught))
(except_clause value: (as_pattern . (tuple [(identifier) (attribute)] @caught)))

; Variables
(expression_statement (assignment left: (identifier) @name !type right: (_) @value) @variable)
(expression_statement (assignment left: (identifier) @name type: (type) @type right: (_) @value) @variable)
(expression_statement (assignment left: (identifier) @name type: (type) @type !right) @variable)
(expression_statement (assignment left: (pattern_list (identifier) @name) right: (_) @value) @variable)

; Entry points
(if_statement
  condition: (comparison_operator (identifier) @left (string) @right)
  (#eq? @left "__name__") (#match? @right "__main__")) @main

(ERROR) @error
(MISSING) @error
