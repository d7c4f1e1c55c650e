import { useSyncExternalStore } from "react";

// The same as Tailwind's `wide:` in styles.css.
const WIDE = "(min-width: 70rem)";

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
