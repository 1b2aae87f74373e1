"""What is true of text itself: words, stems, stopwords, sentences, languages, characters no terminal may get.

Nothing here knows of documents, indexes or models.
"""
