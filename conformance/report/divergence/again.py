"""The former name of `conformance.drive.again`: tests that earlier versions of `conform` wrote start it."""

from conformance.drive.again import main

if __name__ == "__main__":
    main()
