"""The commands: options, help and order of steps; what a command does lies in other rooms."""
