"""How long records take to remember, find and look after: beside the published reference, and as there are more."""
