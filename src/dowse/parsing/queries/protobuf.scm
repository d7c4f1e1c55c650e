; Protocol Buffers: all are names; what holds others is their path.
(message (message_name) @name (message_body) @body) @scope
(enum (enum_name) @name (enum_body) @body) @scope
(service (service_name) @name (rpc) @body) @scope

;; names
(message_name) @struct
(enum_name) @enum
(service_name) @interface
(rpc_name) @prototype
(field (identifier) @field)
(map_field (identifier) @field)
(oneof (identifier) @field)
(oneof_field (identifier) @field)
(enum_field . (identifier) @enumerator)
