"""`python -m agent_memory_protocol` is the `amp` command."""

from .cli.main import main

if __name__ == "__main__":
    main()
