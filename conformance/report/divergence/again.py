"""The former name of `conformance.drive.saved`: tests that earlier versions of `conform` wrote start it."""

from conformance.drive.saved import main

if __name__ == "__main__":
    main()
