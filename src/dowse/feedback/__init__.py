"""Click feedback: the choices of users, kept on this machine, and the boosts that follow from them."""
