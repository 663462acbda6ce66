"""What a message does: its speech acts, instructions and small talk."""
