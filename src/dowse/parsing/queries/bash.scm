; Bash: every command is a call; those of the system are simply never resolved.
(function_definition name: (_) @name body: (_) @body) @function

(command name: (command_name (word) @call))
(command name: (command_name (word) @word) . argument: (word) @path (#set! words "source ."))

;; names
(variable_assignment name: (variable_name) @variable)
(declaration_command (variable_name) @variable)
