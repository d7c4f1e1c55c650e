"""The form of every answer; the OpenAPI document, and with it the page's client, is made from these."""
