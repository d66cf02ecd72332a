; Definitions
(class_declaration name: (_) @name) @define.class
(record_declaration name: (_) @name) @define.class
(struct_declaration name: (_) @name) @define.struct
(interface_declaration name: (_) @name) @define.interface
(enum_declaration name: (_) @name) @define.enum
(delegate_declaration name: (_) @name) @define.type
(namespace_declaration name: (_) @name body: (_) @body) @define.namespace
(file_scoped_namespace_declaration name: (_) @name) @define.namespace
(method_declaration name: (_) @name) @define.method
(constructor_declaration name: (_) @name) @define.method
(local_function_statement name: (_) @name) @define.function
[(lambda_expression) (anonymous_method_expression)] @scope.function

(class_declaration body: (_) @body)
(record_declaration body: (_) @body)
(struct_declaration body: (_) @body)
(interface_declaration body: (_) @body)
(enum_declaration body: (_) @body)
(method_declaration body: (_) @body)
(constructor_declaration body: (_) @body)
(local_function_statement body: (_) @body)
(method_declaration returns: (_) @returns)
(local_function_statement type: (_) @returns)
(delegate_declaration type: (_) @returns)
(class_declaration (attribute_list (attribute) @decorator))
(record_declaration (attribute_list (attribute) @decorator))
(struct_declaration (attribute_list (attribute) @decorator))
(interface_declaration (attribute_list (attribute) @decorator))
(enum_declaration (attribute_list (attribute) @decorator))
(method_declaration (attribute_list (attribute) @decorator))
(constructor_declaration (attribute_list (attribute) @decorator))
(comment) @comment

; Parameters
(parameter_list (parameter name: (_) @name) @parameter)
(parameter_list (parameter type: (_) @parameter.type))
(parameter_list (parameter "=" (_) @parameter.value .))
(parameter_list "params" type: (_) @type name: (identifier) @name @parameter)

; Bases: only the habit of a leading I tells an interface from a class
((base_list [(identifier) (qualified_name) (generic_name)] @implements) (#match? @implements "^([A-Za-z.]+\\.)?I[A-Z]"))
((base_list [(identifier) (qualified_name) (generic_name)] @extends) (#not-match? @extends "^([A-Za-z.]+\\.)?I[A-Z]"))
(base_list (primary_constructor_base_type type: (_) @extends))

; Calls
(invocation_expression function: (identifier) @name arguments: (_) @arguments) @call
(invocation_expression function: (generic_name (identifier) @name) arguments: (_) @arguments) @call
(invocation_expression function: (member_access_expression expression: (_) @receiver name: (identifier) @name)
  arguments: (_) @arguments) @call
(invocation_expression function: (member_access_expression
  expression: (_) @receiver name: (generic_name (identifier) @name)) arguments: (_) @arguments) @call
(invocation_expression function: (conditional_access_expression condition: (_) @receiver
  (member_binding_expression name: (_) @name)) arguments: (_) @arguments) @call
(object_creation_expression type: (identifier) @name arguments: (_) @arguments) @call
(object_creation_expression type: (generic_name (identifier) @name) arguments: (_) @arguments) @call
(object_creation_expression type: (qualified_name qualifier: (_) @receiver name: (identifier) @name)
  arguments: (_) @arguments) @call

; Imports
(using_directive !name [(identifier) (qualified_name)] @module) @import
(using_directive name: (_) @alias [(identifier) (qualified_name)] @module .) @import

; Exceptions
(throw_statement (object_creation_expression type: (_) @raised))
(throw_expression (object_creation_expression type: (_) @raised))
(catch_declaration type: (_) @caught)

; Variables
(field_declaration (variable_declaration type: (_) @type (variable_declarator name: (_) @name) @field))
(field_declaration (variable_declaration (variable_declarator "=" (_) @variable.value)))
(event_field_declaration (variable_declaration type: (_) @type (variable_declarator name: (_) @name) @field))
(property_declaration type: (_) @type name: (_) @name) @field
(property_declaration value: (_) @variable.value)
(record_declaration (parameter_list (parameter type: (_) @type name: (_) @name) @field))
(enum_member_declaration name: (_) @name) @member
(enum_member_declaration value: (_) @variable.value)

(ERROR) @error
(MISSING) @error
