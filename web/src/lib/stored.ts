import { useSyncExternalStore } from "react";

const PREFIX = "dowse.";
const listeners = new Set<() => void>();
// What was kept while the browser forbids storage, so that switches work at least until the page closes.
const fallback = new Map<string, string>();

/** Return what is kept under a name in this browser, "" for nothing. */
export function stored(name: string): string {
  try {
    return localStorage.getItem(PREFIX + name) ?? "";
  } catch {
    return fallback.get(name) ?? "";
  }
}

/** Keep something under a name in this browser; "" forgets it. */
export function store(name: string, value: string): void {
  try {
    if (value) localStorage.setItem(PREFIX + name, value);
    else localStorage.removeItem(PREFIX + name);
  } catch {
    fallback.set(name, value);
  }
  listeners.forEach((listener) => listener());
}

/** What is kept under a name, followed by the component that asks. */
export function useStored(name: string): [string, (value: string) => void] {
  const value = useSyncExternalStore(subscribe, () => stored(name));
  return [value, (next) => store(name, next)];
}

function subscribe(listener: () => void): () => void {
  if (!listeners.size) addEventListener("storage", announce);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (!listeners.size) removeEventListener("storage", announce);
  };
}

function announce(): void {
  listeners.forEach((listener) => listener());
}
