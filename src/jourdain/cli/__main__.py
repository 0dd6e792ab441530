"""`python -m jourdain.cli`."""

from jourdain.cli.main import main

if __name__ == "__main__":
    main()
