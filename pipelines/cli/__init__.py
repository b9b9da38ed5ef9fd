"""The commands: their options, help and order of steps. Other folders do the work."""
