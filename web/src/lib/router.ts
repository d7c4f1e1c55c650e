import { useSyncExternalStore } from "react";

export interface Place {
  path: string;
  params: URLSearchParams;
}

const listeners = new Set<() => void>();
let current = read();

/** Return where the page is; the component draws again when that changes. */
export function usePlace(): Place {
  return useSyncExternalStore(subscribe, () => current);
}

/** Go somewhere inside the page. */
export function navigate(to: string, options: { replace?: boolean } = {}): void {
  if (to === location.pathname + location.search + location.hash) return;
  const leaving = new URL(to, location.href).pathname !== location.pathname;
  history[options.replace ? "replaceState" : "pushState"](null, "", to);
  announce();
  if (leaving) scrollTo(0, 0);
}

/** Write an address from a path and its parameters; empty ones are left out. */
export function address(path: string, params: Record<string, string | undefined> = {}): string {
  const given = Object.entries(params).filter((pair): pair is [string, string] => !!pair[1]);
  const text = new URLSearchParams(given).toString();
  return text ? `${path}?${text}` : path;
}

/** The page of a symbol. */
export function symbolAddress(index: string, id: string): string {
  return `/symbol/${encodeURIComponent(index)}/${encodeURIComponent(id)}`;
}

function read(): Place {
  return { path: location.pathname, params: new URLSearchParams(location.search) };
}

function announce(): void {
  current = read();
  listeners.forEach((listener) => listener());
}

function subscribe(listener: () => void): () => void {
  if (!listeners.size) addEventListener("popstate", announce);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (!listeners.size) removeEventListener("popstate", announce);
  };
}
