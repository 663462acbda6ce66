"""How well the product's own retrieval finds, beside plain BM25 of the same run."""
