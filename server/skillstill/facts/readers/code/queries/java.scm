; Definitions
(class_declaration name: (_) @name body: (_) @body) @define.class
(record_declaration name: (_) @name body: (_) @body) @define.class
(interface_declaration name: (_) @name body: (_) @body) @define.interface
(annotation_type_declaration name: (_) @name body: (_) @body) @define.interface
(enum_declaration name: (_) @name body: (_) @body) @define.enum
(method_declaration name: (_) @name) @define.method
(constructor_declaration name: (_) @name body: (_) @body) @define.method
(compact_constructor_declaration name: (_) @name body: (_) @body) @define.method
(annotation_type_element_declaration name: (_) @name) @define.method
[(lambda_expression) (static_initializer)] @scope.function

(method_declaration body: (_) @body)
(method_declaration type: (_) @returns)
(annotation_type_element_declaration type: (_) @returns)
(class_declaration (modifiers [(annotation) (marker_annotation)] @decorator))
(record_declaration (modifiers [(annotation) (marker_annotation)] @decorator))
(interface_declaration (modifiers [(annotation) (marker_annotation)] @decorator))
(enum_declaration (modifiers [(annotation) (marker_annotation)] @decorator))
(method_declaration (modifiers [(annotation) (marker_annotation)] @decorator))
(constructor_declaration (modifiers [(annotation) (marker_annotation)] @decorator))
[(line_comment) (block_comment)] @comment

; Parameters
(method_declaration parameters: (formal_parameters (formal_parameter type: (_) @type name: (_) @name) @parameter))
(constructor_declaration parameters: (formal_parameters (formal_parameter type: (_) @type name: (_) @name) @parameter))
(method_declaration parameters: (formal_parameters
  (spread_parameter [(type_identifier) (scoped_type_identifier) (generic_type) (array_type) (integral_type)
    (floating_point_type) (boolean_type)] @type "..." (variable_declarator) @name) @parameter))
(constructor_declaration parameters: (formal_parameters
  (spread_parameter [(type_identifier) (scoped_type_identifier) (generic_type) (array_type) (integral_type)
    (floating_point_type) (boolean_type)] @type "..." (variable_declarator) @name) @parameter))

; Bases
(superclass (_) @extends)
(super_interfaces (type_list (_) @implements))
(extends_interfaces (type_list (_) @extends))

; Calls
(method_invocation !object name: (_) @name arguments: (_) @arguments) @call
(method_invocation object: (_) @receiver name: (_) @name arguments: (_) @arguments) @call
(object_creation_expression type: (type_identifier) @name arguments: (_) @arguments) @call
(object_creation_expression type: (generic_type . (type_identifier) @name) arguments: (_) @arguments) @call
(object_creation_expression
  type: (scoped_type_identifier (_) @receiver (type_identifier) @name) arguments: (_) @arguments) @call
(explicit_constructor_invocation constructor: (_) @name arguments: (_) @arguments) @call

; Imports
(import_declaration [(identifier) (scoped_identifier)] @module .) @import
(import_declaration [(identifier) (scoped_identifier)] @module (asterisk)) @import.all

; Exceptions
(throw_statement (object_creation_expression type: (_) @raised))
(catch_type (_) @caught)
(throws (_) @declared)

; Variables
(field_declaration type: (_) @type declarator: (variable_declarator name: (_) @name value: (_) @value) @field)
(field_declaration type: (_) @type declarator: (variable_declarator name: (_) @name !value) @field)
(constant_declaration type: (_) @type declarator: (variable_declarator name: (_) @name value: (_) @value) @constant)
(record_declaration parameters: (formal_parameters (formal_parameter type: (_) @type name: (_) @name) @field))
(enum_constant name: (_) @name) @member

(ERROR) @error
(MISSING) @error
