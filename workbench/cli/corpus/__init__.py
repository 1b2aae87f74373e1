"""Commands about collections: their documents, chunks and health."""
