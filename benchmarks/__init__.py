"""What is measured rather than tested: how to run each, and what came out, stands in the README beside this."""
