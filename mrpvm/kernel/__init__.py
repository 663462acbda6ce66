"""The virtual machine: frames, budget, scheduler, backtracking and the stages of a turn."""
