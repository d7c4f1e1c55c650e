export interface OrderRequest {
  customer: string;
  loaves: number;
}

/** Sends an order to the bakery and waits for the receipt. */
export async function sendOrder(request: OrderRequest): Promise<Receipt> {
  const response = await fetch("/orders", { method: "POST", body: JSON.stringify(request) });
  if (!response.ok) {
    throw new HTTPServerError(response.status);
  }
  return response.json();
}

export class HTTPServerError extends Error {
  constructor(readonly status: number) {
    super(`server said ${status}`);
  }
}

export type Receipt = { number: string };
