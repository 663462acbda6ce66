"""The plugins that ship with the machine, one package each, sorted by family."""
