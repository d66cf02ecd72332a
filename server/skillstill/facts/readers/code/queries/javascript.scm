(class_declaration name: (_) @name) @define.class
(class_heritage (_) @extends)
(field_definition property: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)] @value) @define.method
(field_definition property: (_) @name value: (_) @value) @field
(field_definition property: (_) @name !value) @field

(formal_parameters [(identifier) (rest_pattern) (object_pattern) (array_pattern)] @name @parameter)
(formal_parameters (assignment_pattern left: (_) @name right: (_) @value) @parameter)
(arrow_function parameter: (identifier) @name @parameter)
