"""What others can check their own implementation of the protocol with: published cases, and a run over them."""
