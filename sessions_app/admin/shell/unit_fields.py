"""What a unit says, as the pages of session and base units show it."""

UNIT_FIELDS = (
    ("ku_type", "role", "confidence"),
    ("topic", "title"),
    "claim",
    "procedure",
    "condition",
    "text_body",
    ("subject", "relation", "object"),
    ("utility_acts", "phase_scopes"),
)
