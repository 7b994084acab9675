"""Search: find passages by their words and, where wanted, by their meaning. It knows nothing of what they come from."""
