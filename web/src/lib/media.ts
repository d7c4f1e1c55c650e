import { useSyncExternalStore } from "react";

// The same as Tailwind's `wide:` in styles.css.
const WIDE = "(min-width: 70rem)";

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
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(WIDE);
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    () => matchMedia(WIDE).matches,
  );
}
