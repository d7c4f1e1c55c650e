"""Where package sources come from: registries, distributions, local folders (`protocol.Source`)."""
