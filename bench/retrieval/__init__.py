"""The quality of the product's retrieval, beside plain BM25 in the same run."""
