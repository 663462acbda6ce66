"""The machine: typed plugins, a small virtual machine to run them, and its trace."""
