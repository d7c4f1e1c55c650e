"""A bakery that takes orders, bakes and delivers."""
