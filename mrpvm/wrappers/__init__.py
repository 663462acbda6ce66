"""External wrapper processes: programs in any language that help goal solvers."""
