import { useSyncExternalStore } from "react";

// The same as Tailwind's `wide:` in styles.css.
const WIDE = "(min-width: 70rem)";

// Columns beside each other need more room.
const NARROW = "(max-width: 48rem)";

/** Whether somebody can see the page: not in a tab behind others. */
export function useVisible(): boolean {
  return useSyncExternalStore(
    (listener) => {
      document.addEventListener("visibilitychange", listener);
      return () => document.removeEventListener("visibilitychange", listener);
    },
    () => document.visibilityState !== "hidden",
  );
}

/** Whether there is room for two columns. */
export function useWide(): boolean {
  return useMedia(WIDE);
}

/** Whether there is room for one column only. */
export function useNarrow(): boolean {
  return useMedia(NARROW);
}

function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query);
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    () => matchMedia(query).matches,
  );
}
