"""What every HTTP server of dowse shares: sockets, connection limits, access rules, rate and body limits."""
