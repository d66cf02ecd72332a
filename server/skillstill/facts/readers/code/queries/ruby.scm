; Definitions
(class name: (_) @name) @define.class
(module name: (_) @name) @define.module
(method name: (_) @name) @define.method
(singleton_method name: (_) @name) @define.method

(class body: (_) @body)
(module body: (_) @body)
(method body: (_) @body)
(singleton_method body: (_) @body)
(body_statement ((identifier) @access (#any-of? @access "private" "protected" "public")))
(comment) @comment

; Parameters
(method_parameters (identifier) @name @parameter)
(method_parameters [(splat_parameter) (hash_splat_parameter) (block_parameter)] @name @parameter)
(method_parameters (optional_parameter name: (_) @name value: (_) @value) @parameter)
(method_parameters (keyword_parameter name: (_) @name value: (_) @value) @parameter)
(method_parameters (keyword_parameter name: (_) @name !value) @parameter)

; Bases
(superclass (_) @extends)
((call method: (identifier) @f arguments: (argument_list [(constant) (scope_resolution)] @implements))
  (#any-of? @f "include" "extend" "prepend"))

; Calls
(call !receiver method: (_) @name arguments: (_) @arguments) @call
(call !receiver method: (_) @name !arguments) @call
(call receiver: (_) @receiver method: (_) @name arguments: (_) @arguments) @call
(call receiver: (_) @receiver method: (_) @name !arguments) @call

; Imports
((call method: (identifier) @f arguments: (argument_list (string (string_content) @module))) @import
  (#any-of? @f "require" "require_relative" "load"))

; Exceptions
((call method: (identifier) @f arguments: (argument_list . [(constant) (scope_resolution)] @raised)) (#eq? @f "raise"))
((call method: (identifier) @f arguments: (argument_list
  . (call receiver: [(constant) (scope_resolution)] @raised))) (#eq? @f "raise"))
(exceptions [(constant) (scope_resolution)] @caught)

; Variables
(assignment left: (constant) @name right: (_) @value) @constant
((call method: (identifier) @f arguments: (argument_list (simple_symbol) @name @field))
  (#any-of? @f "attr_reader" "attr_writer" "attr_accessor"))

; Tests
((call method: (identifier) @f arguments: (argument_list . (string) @name) block: (_)) @test
  (#any-of? @f "it" "specify" "test" "scenario" "example"))
((call method: (identifier) @f arguments: (argument_list . [(string) (constant) (scope_resolution)] @name)
  block: (_)) @suite (#any-of? @f "describe" "context" "feature"))

; Entry points
((if condition: (binary left: (file) @left)) @main)
((if_modifier condition: (binary left: (file) @left)) @main)

(ERROR) @error
(MISSING) @error
