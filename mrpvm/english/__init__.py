"""English: parses statements and questions into clauses with roles, and decides whether a statement answers a question.

From text to an answer, in this order:

    coreference     what pronouns mean, in a unit, in all evidence and in a conversation
    statements      splits the evidence into sentences (voices: who says them)
    corrections     leaves out corrected statements, and completes the statements that correct them
    parsing         parses a sentence into clauses (reading, tagging, phrases)
    asking          parses a question into a clause with a gap
    discourse       all clauses in order, and the phrases that name the same thing
    entailment      how a statement answers, or the reason why it does not (matching: role by role)
    naming          answers found by their words alone, whatever the roles
    answers         the statements that answer, none if several differ, or the reason of the closest one
    values          places, times, counts and measures in the phrases of a clause
"""
