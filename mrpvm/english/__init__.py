"""English: sentences as clauses with roles, questions as clauses with a gap, and whether one answers the other.

From text to an answer, in this order:

    coreference     whom "he" means, in a unit, in all evidence and in a conversation
    statements      the evidence as sentences (voices: whose words)
    corrections     what a later statement sets right is left out, and told in full
    parsing         a sentence as clauses (reading, tagging, phrases)
    asking          a question as a clause with a gap
    discourse       all clauses in order, with what names the same thing
    entailment      how a statement answers, or the reason why it does not (matching: role by role)
    naming          what a message tells whatever the roles of its words
    answers         the statements that answer, of several that differ none, or the closest one's reason
    values          places, times, counts and measures among the phrases of a clause
"""
