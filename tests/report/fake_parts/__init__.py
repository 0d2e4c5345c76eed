"""Parts of a verification that end in every way a part can end."""
