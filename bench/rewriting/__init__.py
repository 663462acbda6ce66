"""How well messages that lean on the conversation are recognised, and what they mean found."""
