"""Training our own encoder: mining pairs, fitting, distilling, exporting. Reached by `dowse train`."""
