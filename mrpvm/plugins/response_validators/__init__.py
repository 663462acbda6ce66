"""Response validators: they accept or reject an answer before it is committed."""
