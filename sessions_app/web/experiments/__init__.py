"""The pages of replays, trials and diagnoses."""
