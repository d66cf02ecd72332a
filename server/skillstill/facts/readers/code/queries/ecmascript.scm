; What JavaScript and TypeScript share.

; Definitions
(class_declaration body: (_) @body)
(function_declaration name: (_) @name body: (_) @body) @define.function
(generator_function_declaration name: (_) @name body: (_) @body) @define.function
(method_definition name: (_) @name body: (_) @body) @define.method
(variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)] @value) @define.function
(variable_declarator name: (identifier) @name value: (class) @value) @define.class
(pair key: (property_identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)] @value) @define.method
(assignment_expression left: (member_expression) @path
  right: [(arrow_function) (function_expression) (generator_function)] @value) @define.function
(assignment_expression left: (member_expression) @path right: (class) @value) @define.class
(export_statement "default" @name value: [(arrow_function) (function_expression) (class)] @value) @define.function
(export_statement "default" @name
  declaration: (function_declaration !name body: (_) @body)) @define.function
(function_expression name: (_) @name body: (_) @body) @define.function
[(arrow_function) (function_expression) (generator_function) (class) (class_static_block)] @scope.function

; Objects: the functions of one that has a name, is exported or returned are methods; those of others are not named
(variable_declarator name: (identifier) @name value: (object) @value) @scope.class
(pair key: (property_identifier) @name value: (object) @value) @scope.class
(assignment_expression left: (member_expression) @path right: (object) @value) @scope.class
(export_statement value: (object) @value) @scope.class
(return_statement (object) @value) @scope.class
(object) @scope.object

(arrow_function body: (_) @body)
(function_expression body: (_) @body)
(generator_function body: (_) @body)
(class body: (_) @body)
(decorator (_) @decorator)
(comment) @comment

; Calls
(call_expression function: (identifier) @name arguments: (arguments) @arguments) @call
(call_expression function: (member_expression object: (_) @receiver property: (_) @name)
  arguments: (arguments) @arguments) @call
(new_expression constructor: (identifier) @name arguments: (arguments) @arguments) @call
(new_expression constructor: (member_expression object: (_) @receiver property: (_) @name)
  arguments: (arguments) @arguments) @call
(call_expression function: (super) @name arguments: (arguments) @arguments) @call

; Imports
(import_statement . source: (string (string_fragment) @module)) @import
(import_statement (import_clause (identifier) @alias) source: (string (string_fragment) @module)) @import.default
(import_statement (import_clause (namespace_import (identifier) @alias))
  source: (string (string_fragment) @module)) @import.all
(import_statement (import_clause (named_imports (import_specifier name: (_) @name !alias)))
  source: (string (string_fragment) @module)) @import
(import_statement (import_clause (named_imports (import_specifier name: (_) @name alias: (_) @alias)))
  source: (string (string_fragment) @module)) @import
(export_statement (export_clause (export_specifier name: (_) @name))
  source: (string (string_fragment) @module)) @import
(export_statement "*" @name source: (string (string_fragment) @module)) @import
(export_statement (namespace_export (identifier) @alias) source: (string (string_fragment) @module)) @import.all
((call_expression function: [(identifier) (import)] @f
  arguments: (arguments . (string (string_fragment) @module) .)) @import (#any-of? @f "require" "import"))
((variable_declarator name: (identifier) @alias value: (call_expression function: (identifier) @f
  arguments: (arguments . (string (string_fragment) @module) .))) @import (#eq? @f "require"))
((variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @name)
  value: (call_expression function: (identifier) @f
  arguments: (arguments . (string (string_fragment) @module) .))) @import (#eq? @f "require"))
((variable_declarator name: (object_pattern (pair_pattern key: (_) @name value: (identifier) @alias))
  value: (call_expression function: (identifier) @f
  arguments: (arguments . (string (string_fragment) @module) .))) @import (#eq? @f "require"))

; Exceptions
(throw_statement (new_expression constructor: (_) @raised))
(throw_statement (call_expression function: (_) @raised))

; Tests
((call_expression function: [(identifier) @f (member_expression object: (identifier) @f)]
  arguments: (arguments . [(string) (template_string)] @name [(arrow_function) (function_expression)])) @test
  (#any-of? @f "it" "test"))
((call_expression function: [(identifier) @f (member_expression object: (identifier) @f)]
  arguments: (arguments . [(string) (template_string)] @name [(arrow_function) (function_expression)])) @suite
  (#any-of? @f "describe" "suite" "context"))

(ERROR) @error
(MISSING) @error

; Variables
(lexical_declaration kind: "const" (variable_declarator name: (identifier) @name value: (_) @value) @constant)
(lexical_declaration kind: "let" (variable_declarator name: (identifier) @name value: (_) @value) @variable)
(variable_declaration (variable_declarator name: (identifier) @name value: (_) @value) @variable)
