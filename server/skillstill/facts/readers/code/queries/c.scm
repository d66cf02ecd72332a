; What C and C++ share.

; Definitions
(function_definition type: (_) declarator: (function_declarator declarator: (identifier) @name)
  body: (_) @body) @define.function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
  body: (_) @body) @define.function
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator
  declarator: (function_declarator declarator: (identifier) @name))) body: (_) @body) @define.function
; TEST_IMPL(name) { ... }: a macro makes the function
(function_definition type: (type_identifier) declarator: (parenthesized_declarator (identifier) @name)
  body: (_) @body) @define.function
(translation_unit (compound_statement) @scope.function)
(declaration declarator: (function_declarator declarator: (identifier) @name)) @define.declaration
(declaration declarator: (pointer_declarator
  declarator: (function_declarator declarator: (identifier) @name))) @define.declaration
(struct_specifier name: (type_identifier) @name body: (_) @body) @define.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @define.union
(enum_specifier name: (type_identifier) @name body: (_) @body) @define.enum
(type_definition type: (struct_specifier body: (_) @body) @value declarator: (type_identifier) @name) @define.struct
(type_definition type: (union_specifier body: (_) @body) @value declarator: (type_identifier) @name) @define.union
(type_definition type: (enum_specifier body: (_) @body) @value declarator: (type_identifier) @name) @define.enum
(type_definition type: [(struct_specifier !body) (enum_specifier !body) (union_specifier !body)
  (primitive_type) (type_identifier) (sized_type_specifier)] declarator: (type_identifier) @name) @define.type
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @name)) @define.type
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator
  (pointer_declarator declarator: (type_identifier) @name)))) @define.type
(preproc_function_def name: (_) @name value: (_) @body) @define.macro
(function_definition type: (_) @returns)
(declaration type: (_) @returns declarator: [(function_declarator) (pointer_declarator (function_declarator))])
(comment) @comment

; Parameters
(function_declarator parameters: (parameter_list (parameter_declaration type: (_) @type declarator: (identifier) @name) @parameter))
(function_declarator parameters: (parameter_list (parameter_declaration type: (_) @type declarator: (_ declarator: (identifier) @name)) @parameter))
(function_declarator parameters: (parameter_list (parameter_declaration type: (_) @type
  declarator: (_ declarator: (_ declarator: (identifier) @name))) @parameter))
(function_declarator parameters: (parameter_list (parameter_declaration type: (_) @type declarator: (function_declarator
  declarator: (parenthesized_declarator (_ declarator: (identifier) @name)))) @parameter))
(preproc_params (identifier) @name @parameter)

; Calls
(call_expression function: (identifier) @name arguments: (_) @arguments) @call
(call_expression function: (field_expression argument: (_) @receiver field: (field_identifier) @name)
  arguments: (_) @arguments) @call

; Imports
(preproc_include path: (_) @module) @import

; Variables
(preproc_def name: (_) @name value: (_) @value) @constant
(declaration type: (_) @type declarator: (init_declarator
  declarator: [(identifier) @name (_ declarator: (identifier) @name)
    (_ declarator: (_ declarator: (identifier) @name))] value: (_) @value) @variable)
(declaration type: (_) @type declarator: (identifier) @name @variable)
(declaration type: (_) @type declarator: (pointer_declarator declarator: (identifier) @name) @variable)
(declaration type: (_) @type declarator: (array_declarator declarator: (identifier) @name) @variable)
(field_declaration type: (_) @type declarator: (field_identifier) @name @field)
(field_declaration type: (_) @type declarator: (_ declarator: (field_identifier) @name) @field)
(field_declaration type: (_) @type declarator: (_ declarator: (_ declarator: (field_identifier) @name)) @field)
(field_declaration type: (_) @type declarator: (function_declarator declarator: (parenthesized_declarator
  (pointer_declarator declarator: (field_identifier) @name @field))))
(enumerator name: (_) @name) @member
(enumerator value: (_) @variable.value)

; Tests
((function_definition type: (type_identifier) @f declarator: (parenthesized_declarator (identifier) @name)) @test
  (#match? @f "TEST"))

(ERROR) @error
(MISSING) @error
