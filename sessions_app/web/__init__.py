"""Pages, their fragments and the live socket."""
