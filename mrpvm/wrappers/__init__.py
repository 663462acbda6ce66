"""External wrapper processes: programs in any language that help goal solvers [PL-33 to PL-41]."""
