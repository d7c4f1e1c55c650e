import { useEffect } from "react";
import { useStored } from "./stored";

export type Theme = "light" | "dark" | "";

const NEXT: Record<Theme, Theme> = { "": "dark", dark: "light", light: "" };

/** The chosen theme, "" for the system's, and what takes the next one. */
export function useTheme(): [Theme, () => void] {
  const [value, set] = useStored("theme");
  const theme: Theme = value === "light" || value === "dark" ? value : "";
  useEffect(() => {
    const root = document.documentElement;
    if (theme) root.dataset["theme"] = theme;
    else delete root.dataset["theme"];
  }, [theme]);
  return [theme, () => set(NEXT[theme])];
}
