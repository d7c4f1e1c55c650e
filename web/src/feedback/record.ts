import { ask } from "../api/client";
import { store, stored } from "../lib/stored";
import { hasConsent } from "./use-consent";

export type ChoiceKind = "click" | "copy" | "open" | "up" | "down";

interface Choice {
  query: string;
  hit: { id: string; index: string; rank: number };
  kind: ChoiceKind;
}

/** Record what was chosen, if that is allowed; returns whether it was. A failure never disturbs. */
export async function record({ query, hit, kind }: Choice): Promise<boolean> {
  if (!hasConsent() || !query.trim()) return false;
  const body = {
    index: hit.index,
    query,
    symbol: hit.id,
    kind,
    rank: hit.rank,
    visitor: visitor(),
  };
  try {
    await ask("post", "/api/v1/feedback", { body });
    return true;
  } catch {
    return false;
  }
}

/** A random name for this browser, so that one visitor counts as one. It says nothing about anybody. */
function visitor(): string {
  const known = stored("visitor");
  if (known) return known;
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  const name = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  store("visitor", name);
  return name;
}
