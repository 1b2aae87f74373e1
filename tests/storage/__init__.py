"""The file: opening, migrations, documents, lanes, filters, traces, concurrency, sudden death."""
