const whole = new Intl.NumberFormat("en");

/** 12345 → "12,345". */
export function count(value: number): string {
  return whole.format(value);
}

/** A number and its thing: "1 file", "3 files". */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** 0.1234 → "12 %"; never 0 % for something nor 100 % for less than all; on one line. */
export function percent(share: number): string {
  const rounded = Math.round(share * 100);
  if (rounded === 0 && share > 0) return "<1\u00a0%";
  if (rounded === 100 && share < 1) return "99\u00a0%";
  return `${rounded}\u00a0%`;
}

/** A measure between 0 and 1 as papers write it: ".893", "1.000". */
export function measure(value: number, digits = 3): string {
  return value.toFixed(digits).replace(/^(-?)0\./, "$1.");
}

/** A score: two decimals, a true minus sign. */
export function score(value: number, digits = 2): string {
  return value.toFixed(digits).replace("-", "−");
}

/** An addend: with its sign. */
export function signed(value: number, digits = 3): string {
  return (value >= 0 ? "+" : "−") + Math.abs(value).toFixed(digits);
}

/** 1234567 → "1.2 MB". */
export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit] ?? ""}`;
}

/** 0.42 → "0.4 ms", 1234 → "1.2 s". */
export function duration(milliseconds: number): string {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
}

/** 200 → "about 3 min left"; nothing while that is not known. */
export function timeLeft(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 60) return "less than a minute left";
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `about ${minutes} min left` : `about ${Math.round(minutes / 60)} h left`;
}

/** Seconds since 1970 → "3 minutes ago". */
export function ago(seconds: number, now = Date.now() / 1000): string {
  const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  const past = now - seconds;
  if (past < 60) return "just now";
  if (past < 3600) return relative.format(-Math.round(past / 60), "minute");
  if (past < 86400) return relative.format(-Math.round(past / 3600), "hour");
  return relative.format(-Math.round(past / 86400), "day");
}

/** 1 → "1st". */
export function ordinal(value: number): string {
  const tens = value % 100;
  const ending = tens > 10 && tens < 14 ? "th" : (["th", "st", "nd", "rd"][value % 10] ?? "th");
  return `${value}${ending}`;
}
