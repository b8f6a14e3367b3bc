"""Extensions of Sphinx with which the site of Worldline is built."""
