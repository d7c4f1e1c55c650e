import { stored, useStored } from "../lib/stored";

export type ConsentValue = "yes" | "no" | "";

/** Whether choices may be recorded; "" as long as nobody said. */
export function useConsent(): [ConsentValue, (value: ConsentValue) => void] {
  const [value, set] = useStored("consent");
  return [value === "yes" || value === "no" ? value : "", set];
}

/** Whether choices may be recorded now. */
export function hasConsent(): boolean {
  return stored("consent") === "yes";
}
