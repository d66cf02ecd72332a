; Definitions
(class_declaration name: (_) @name body: (_) @body) @define.class
(interface_declaration name: (_) @name body: (_) @body) @define.interface
(trait_declaration name: (_) @name body: (_) @body) @define.trait
(enum_declaration name: (_) @name body: (_) @body) @define.enum
(namespace_definition name: (_) @name) @define.namespace
(function_definition name: (_) @name body: (_) @body) @define.function
(method_declaration name: (_) @name) @define.method
(assignment_expression left: (variable_name (name) @name)
  right: [(anonymous_function) (arrow_function)] @value) @define.function
[(anonymous_function) (arrow_function)] @scope.function

(method_declaration body: (_) @body)
(method_declaration return_type: (_) @returns)
(function_definition return_type: (_) @returns)
(class_declaration (attribute_list (attribute_group (attribute) @decorator)))
(method_declaration (attribute_list (attribute_group (attribute) @decorator)))
(function_definition (attribute_list (attribute_group (attribute) @decorator)))
(comment) @comment

; Parameters
(formal_parameters [(simple_parameter) (property_promotion_parameter)] @parameter)
(formal_parameters (variadic_parameter) @parameter)
(formal_parameters (_ type: (_) @parameter.type))
(formal_parameters (_ name: (variable_name (name) @parameter.name)))
(formal_parameters (_ default_value: (_) @parameter.value))

; Bases
(base_clause (_) @extends)
(class_interface_clause (_) @implements)
(declaration_list (use_declaration (_) @implements))

; Calls
(function_call_expression function: (name) @name arguments: (_) @arguments) @call
(function_call_expression function: (qualified_name (name) @name) arguments: (_) @arguments) @call
(member_call_expression object: (_) @receiver name: (name) @name arguments: (_) @arguments) @call
(nullsafe_member_call_expression object: (_) @receiver name: (name) @name arguments: (_) @arguments) @call
(scoped_call_expression scope: (_) @receiver name: (name) @name arguments: (_) @arguments) @call
(object_creation_expression (name) @name (arguments) @arguments) @call
(object_creation_expression (qualified_name (name) @name) (arguments) @arguments) @call

; Imports
(namespace_use_declaration (namespace_use_clause [(name) (qualified_name)] @module !alias) @import)
(namespace_use_declaration (namespace_use_clause [(name) (qualified_name)] @module alias: (_) @alias) @import)
(namespace_use_declaration (namespace_name) @module
  body: (namespace_use_group (namespace_use_clause . (_) @name !alias) @import))
(namespace_use_declaration (namespace_name) @module
  body: (namespace_use_group (namespace_use_clause . (_) @name alias: (_) @alias) @import))
[(require_expression (string (string_content) @module)) (require_once_expression (string (string_content) @module))
 (include_expression (string (string_content) @module)) (include_once_expression (string (string_content) @module))
] @import

; Exceptions
(throw_expression (object_creation_expression [(name) (qualified_name)] @raised))
(catch_clause type: (type_list (_) @caught))

; Variables
(const_declaration (const_element . (name) @name (_) @value) @constant)
(property_declaration !type (property_element name: (variable_name (name) @name)) @field)
(property_declaration type: (_) @type (property_element name: (variable_name (name) @name)) @field)
(property_element default_value: (_) @variable.value)
(enum_case name: (_) @name value: (_) @value) @member
(enum_case name: (_) @name !value) @member
(program (expression_statement (assignment_expression left: (variable_name (name) @name) right: (_) @value) @variable))
((function_call_expression function: (name) @f arguments: (arguments
  . (argument (string (string_content) @name)) . (argument (_) @value))) @constant (#eq? @f "define"))

(ERROR) @error
(MISSING) @error
