; Definitions
(function_declaration name: (_) @name) @define.function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @owner)) name: (_) @name) @define.method
(type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @define.struct
(type_spec name: (_) @name type: (interface_type "{" @body)) @define.interface
(type_spec name: (_) @name type: [
  (type_identifier) (qualified_type) (pointer_type) (function_type) (map_type) (slice_type) (array_type)
  (channel_type) (generic_type) (parenthesized_type)]) @define.type
(type_alias name: (_) @name) @define.type
(method_elem name: (_) @name) @define.method
(func_literal) @scope.function

(function_declaration body: (_) @body)
(method_declaration body: (_) @body)
(function_declaration result: (_) @returns)
(method_declaration result: (_) @returns)
(method_elem result: (_) @returns)
(comment) @comment

; Parameters
(function_declaration parameters: (parameter_list (_ name: (identifier) @name type: (_) @type) @parameter))
(method_declaration parameters: (parameter_list (_ name: (identifier) @name type: (_) @type) @parameter))
(method_elem parameters: (parameter_list (_ name: (identifier) @name type: (_) @type) @parameter))

; Bases: what a struct or an interface embeds
(struct_type (field_declaration_list (field_declaration !name type: (_) @extends)))
(interface_type (type_elem . [(type_identifier) (qualified_type) (generic_type)] @extends .))

; Calls
(call_expression function: (identifier) @name arguments: (_) @arguments) @call
(call_expression function: (selector_expression operand: (_) @receiver field: (_) @name) arguments: (_) @arguments) @call

; Imports
(import_spec !name path: (_ (_) @module)) @import
(import_spec name: (_) @alias path: (_ (_) @module)) @import

; Variables
(const_spec (identifier) @name) @constant  ; with its field only the first of several names matches
(var_spec name: (identifier) @name) @variable
(const_spec type: (_) @variable.type)
(var_spec type: (_) @variable.type)
(const_spec value: (_) @variable.value)
(var_spec value: (_) @variable.value)
(struct_type (field_declaration_list (field_declaration name: (_) @name type: (_) @type) @field))

; Entry points
((composite_literal type: (_) @t body: (literal_value (keyed_element
    key: (literal_element (identifier) @k) value: (literal_element (_) @name)))) @command
  (#match? @t "(^|\\.)Command$") (#any-of? @k "Use" "Name"))

(ERROR) @error
(MISSING) @error
