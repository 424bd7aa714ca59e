"""`python -m forewarn` is the command `forewarn`."""

from forewarn.cli.main import main

if __name__ == "__main__":
    main()
