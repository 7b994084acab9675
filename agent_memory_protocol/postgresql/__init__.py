"""Records on a PostgreSQL server, where many machines share them."""
