"""An index as one file: a zip archive of its folder with a manifest."""
