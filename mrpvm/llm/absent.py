"""No model: what the machine is given when no provider is configured [L-8]."""


class AbsentModel:
    """A language model that is not there; plugins that need one see so and say so."""

    available = False
