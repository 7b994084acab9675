"""What is measured rather than tested: the README beside this says how to run each and where its results stand."""
