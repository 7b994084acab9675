"""What is wrong with a memory: one rule, one function, each with a sentence that says what to do."""
