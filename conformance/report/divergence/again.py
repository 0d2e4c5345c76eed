"""The old name of `conformance.drive.saved`. Tests that earlier versions of `conform` wrote run this name."""

from conformance.drive.saved import main

if __name__ == "__main__":
    main()
