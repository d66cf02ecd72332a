(class_declaration name: (_) @name) @define.class
(abstract_class_declaration name: (_) @name body: (_) @body) @define.class
(interface_declaration name: (_) @name body: (_) @body) @define.interface
(enum_declaration name: (_) @name body: (_) @body) @define.enum
(type_alias_declaration name: (_) @name) @define.type
(internal_module name: (_) @name body: (_) @body) @define.module
(module name: (identifier) @name body: (_) @body) @define.module
(function_signature name: (_) @name) @define.function
(interface_body (method_signature name: (_) @name) @define.method)
(class_body (method_signature name: (_) @name) @define.method)
(type_alias_declaration value: (object_type (method_signature name: (_) @name) @define.method))
(abstract_method_signature name: (_) @name) @define.method
(public_field_definition name: (_) @name
  value: [(arrow_function) (function_expression)] @value) @define.method

(variable_declarator name: (identifier) @name value: (_ . (object) @value)) @scope.class

(function_declaration return_type: (type_annotation (_) @returns))
(generator_function_declaration return_type: (type_annotation (_) @returns))
(function_signature return_type: (type_annotation (_) @returns))
(method_definition return_type: (type_annotation (_) @returns))
(method_signature return_type: (type_annotation (_) @returns))
(abstract_method_signature return_type: (type_annotation (_) @returns))
(arrow_function return_type: (type_annotation (_) @returns))
(function_expression return_type: (type_annotation (_) @returns))

(formal_parameters [(required_parameter) (optional_parameter)] @parameter)
(formal_parameters (_ pattern: (_) @parameter.name))
(formal_parameters (_ type: (type_annotation (_) @parameter.type)))
(formal_parameters (_ value: (_) @parameter.value))
(arrow_function parameter: (identifier) @name @parameter)

(extends_clause value: (_) @extends)
(extends_type_clause type: (_) @extends)
(implements_clause (_) @implements)

(public_field_definition name: (_) @name) @field
(interface_body (property_signature name: (_) @name) @field)
(type_alias_declaration value: (object_type (property_signature name: (_) @name) @field))
(public_field_definition type: (type_annotation (_) @variable.type))
(property_signature type: (type_annotation (_) @variable.type))
(variable_declarator type: (type_annotation (_) @variable.type))
(public_field_definition value: (_) @variable.value)
(enum_assignment name: (_) @name value: (_) @value) @member
(enum_body name: (_) @name @member)
