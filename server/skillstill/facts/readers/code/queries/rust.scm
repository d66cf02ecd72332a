; Definitions
(struct_item name: (_) @name) @define.struct
(union_item name: (_) @name) @define.union
(enum_item name: (_) @name) @define.enum
(trait_item name: (_) @name) @define.trait
(mod_item name: (_) @name body: (_) @body) @define.module
(function_item name: (_) @name body: (_) @body) @define.function
(function_signature_item name: (_) @name) @define.function
(type_item name: (_) @name) @define.type
(associated_type name: (_) @name) @define.type
(macro_definition name: (_) @name "(" @body) @define.macro
(macro_definition name: (_) @name "{" @body) @define.macro
(impl_item !trait type: (_) @name) @scope.class
(impl_item trait: (_) type: (_) @name) @scope.trait
(closure_expression) @scope.function

(struct_item body: (_) @body)
(union_item body: (_) @body)
(enum_item body: (_) @body)
(trait_item body: (_) @body)
(function_item return_type: (_) @returns)
(function_signature_item return_type: (_) @returns)
(attribute_item (attribute) @decorator)
[(line_comment) (block_comment)] @comment

; Parameters
(parameters (parameter pattern: (_) @name type: (_) @type) @parameter)

; Bases
(trait_item bounds: (trait_bounds (_) @extends))
(impl_item trait: (_) @implements)

; Calls
(call_expression function: (identifier) @name arguments: (_) @arguments) @call
(call_expression function: (scoped_identifier path: (_) @receiver name: (_) @name) arguments: (_) @arguments) @call
(call_expression function: (field_expression value: (_) @receiver field: (_) @name) arguments: (_) @arguments) @call
(call_expression function: (generic_function function: (identifier) @name) arguments: (_) @arguments) @call
(call_expression function: (generic_function
  function: (scoped_identifier path: (_) @receiver name: (_) @name)) arguments: (_) @arguments) @call
(call_expression function: (generic_function
  function: (field_expression value: (_) @receiver field: (_) @name)) arguments: (_) @arguments) @call
(macro_invocation macro: (identifier) @name (token_tree) @arguments) @call
(macro_invocation macro: (scoped_identifier path: (_) @receiver name: (_) @name) (token_tree) @arguments) @call

; Imports
(use_declaration argument: [(identifier) (scoped_identifier)] @module) @import
(use_as_clause path: (_) @module alias: (_) @alias) @import
(use_wildcard (_) @module) @import.all
(use_list [(identifier) (scoped_identifier) (self)] @module) @import
(extern_crate_declaration name: (_) @module) @import
(mod_item name: (_) @module !body) @import

; Variables
(const_item name: (_) @name type: (_) @type value: (_) @value) @constant
(const_item name: (_) @name type: (_) @type !value) @constant
(static_item name: (_) @name type: (_) @type value: (_) @value) @variable
(enum_variant name: (_) @name) @member
(enum_variant value: (_) @variable.value)
(struct_item body: (field_declaration_list (field_declaration name: (_) @name type: (_) @type) @field))
(union_item body: (field_declaration_list (field_declaration name: (_) @name type: (_) @type) @field))

(ERROR) @error
(MISSING) @error
