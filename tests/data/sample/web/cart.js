/**
 * The shopping cart of the web page.
 */
export class Cart {
  constructor() {
    this.items = [];
  }

  /** Put a loaf into the cart. */
  addItem(loaf, quantity) {
    this.items.push({ loaf, quantity });
  }

  totalPrice() {
    return this.items.reduce((sum, item) => sum + item.loaf.price * item.quantity, 0);
  }
}

// Reads the cookie header of a request.
export function parseCookieHeader(header) {
  const cookies = {};
  for (const part of header.split(";")) {
    const [name, value] = part.trim().split("=");
    cookies[name] = decodeURIComponent(value);
  }
  return cookies;
}
