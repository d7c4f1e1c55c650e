export type Scale = (value: number) => number;

export interface Axis {
  low: number;
  high: number;
  /** Where lines and labels stand. */
  ticks: number[];
}

/** A scale that takes [low, high] to [start, end]. */
export function linear(low: number, high: number, start: number, end: number): Scale {
  const span = high - low || 1;
  return (value) => start + ((value - low) / span) * (end - start);
}

/** A scale on which factors are distances; values outside of it stand at its ends. */
export function logarithmic(low: number, high: number, start: number, end: number): Scale {
  const inner = linear(Math.log10(low), Math.log10(high), start, end);
  return (value) => inner(Math.log10(Math.min(Math.max(value, low), high)));
}

/** A logarithmic axis for values above 0: its ends are 1, 2 or 5 times a power of ten. */
export function logAxis(values: readonly number[]): Axis {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const first = Math.floor(Math.log10(least));
  const last = Math.ceil(Math.log10(most));
  const steps = Array.from({ length: last - first + 1 }, (_, power) => 10 ** (first + power));
  const marks = steps.flatMap((ten) => [ten, 2 * ten, 5 * ten]);
  const low = marks.findLast((mark) => mark <= least) ?? least;
  const high = marks.find((mark) => mark >= most && mark > low) ?? most * 10;
  const shown = marks.filter((mark) => low <= mark && mark <= high);
  const tens = shown.filter((mark) => steps.includes(mark));
  return { low, high, ticks: shown.length > 6 && tens.length > 1 ? tens : shown };
}

/** An axis of shares between 0 and 1 that holds all values. */
export function shareAxis(values: readonly number[]): Axis {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const step = [0.01, 0.02, 0.05, 0.1].find((each) => (most - least) / each <= 6) ?? 0.2;
  let low = Math.max(0, Math.floor(least / step + 1e-9));
  let high = Math.min(1 / step, Math.ceil(most / step - 1e-9));
  if (high <= low) [low, high] = [Math.max(0, low - 1), Math.min(1 / step, low + 1)];
  const ticks = Array.from({ length: Math.round(high - low) + 1 }, (_, i) => (low + i) * step);
  return { low: low * step, high: high * step, ticks };
}
