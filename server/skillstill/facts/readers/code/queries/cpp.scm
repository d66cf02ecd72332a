; Definitions
(class_specifier name: (_) @name body: (_) @body) @define.class
(struct_specifier name: (template_type) @name body: (_) @body) @define.struct
(namespace_definition name: (_) @name body: (_) @body) @define.namespace
(alias_declaration name: (_) @name) @define.type
(concept_definition name: (_) @name) @define.type
(function_definition declarator: (function_declarator
  declarator: [(qualified_identifier) (field_identifier) (operator_name) (destructor_name)] @name)) @define.function
(function_definition declarator: (_ (function_declarator
  declarator: [(qualified_identifier) (field_identifier) (operator_name)] @name))) @define.function
(function_definition declarator: (reference_declarator (function_declarator
  declarator: (identifier) @name))) @define.function
((function_definition !type declarator: (function_declarator declarator: (identifier) @name)) @define.function
  (#not-match? @name "^([A-Z]+_)*TEST(_[A-Z]+)*$"))
(field_declaration declarator: (function_declarator declarator: (_) @name)) @define.method
(field_declaration declarator: (_ (function_declarator declarator: (_) @name))) @define.method
(field_declaration_list (declaration declarator: (function_declarator
  declarator: [(identifier) (destructor_name)] @name)) @define.method)
(lambda_expression) @scope.function

(function_definition body: (_) @body)
(field_declaration type: (_) @returns declarator: [(function_declarator) (_ (function_declarator))])
(trailing_return_type (_) @returns)
(access_specifier) @access

; Parameters
(function_declarator parameters: (parameter_list (parameter_declaration type: (_) @type declarator: (reference_declarator (identifier) @name)) @parameter))
(function_declarator parameters: (parameter_list (optional_parameter_declaration
  type: (_) @type declarator: (identifier) @name default_value: (_) @value) @parameter))
(function_declarator parameters: (parameter_list (optional_parameter_declaration
  type: (_) @type declarator: (_ (identifier) @name) default_value: (_) @value) @parameter))

; Bases
(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @extends)

; Calls
(call_expression function: (qualified_identifier scope: (_) @receiver name: (_) @name) arguments: (_) @arguments) @call
(call_expression function: (template_function name: (_) @name) arguments: (_) @arguments) @call
(call_expression function: (field_expression argument: (_) @receiver field: (template_method name: (_) @name))
  arguments: (_) @arguments) @call
(new_expression type: (type_identifier) @name arguments: (_) @arguments) @call

; Imports
(using_declaration (qualified_identifier) @module) @import
(using_declaration "namespace" [(identifier) (qualified_identifier)] @module) @import.all

; Exceptions
(throw_statement (call_expression function: (_) @raised))
(catch_clause parameters: (parameter_list (parameter_declaration type: (_) @caught)))

; Variables
(field_declaration default_value: (_) @variable.value)

; Tests
((function_definition !type declarator: (function_declarator
  declarator: (identifier) @f parameters: (_) @name)) @test (#match? @f "^([A-Z]+_)*TEST(_[A-Z]+)*$"))
((call_expression function: (identifier) @f arguments: (argument_list . (string_literal (string_content) @name))) @test
  (#any-of? @f "TEST_CASE" "SCENARIO"))
