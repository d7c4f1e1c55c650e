// Drawn on a grid of 20, one stroke width, so that they sit beside text like letters.
const PATHS = {
  search: "M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12Zm4.400-1.600L17 17",
  up: "M6 17V9l4-6 1 .7V8h5l-1.300 9H6Zm0-8H3v8h3",
  down: "M14 3v8l-4 6-1-.7V12H4l1.300-9H14Zm0 8h3V3h-3",
  copy: "M7 7V3h10v10h-4M3 7h10v10H3z",
  check: "m4 10.500 4 4 8-9",
  open: "M8 4H4v12h12v-4M11 3h6v6M17 3l-8 8",
  close: "m5 5 10 10M15 5 5 15",
  sun: "M10 13.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7ZM10 1.500v2M10 16.500v2M1.500 10h2M16.500 10h2M4 4l1.400 1.400M14.600 14.600 16 16M4 16l1.400-1.400M14.600 5.400 16 4",
  moon: "M16.500 12A7 7 0 0 1 8 3.500a7 7 0 1 0 8.500 8.500Z",
  system: "M3 4h14v9H3zM7 17h6M10 13v4",
  plus: "M10 4v12M4 10h12",
  minus: "M4 10h12",
  fit: "M3 7V3h4M13 3h4v4M17 13v4h-4M7 17H3v-4",
  right: "m7 4 6 6-6 6",
  expand: "m4 7 6 6 6-6",
  warn: "M10 3 2 17h16L10 3Zm0 5v4.500M10 14.800v.1",
  info: "M10 18a8 8 0 1 0 0-16 8 8 0 0 0 0 16Zm0-9v5M10 6.200v.1",
  options:
    "M3 6h7M14 6h3M3 14h3M10 14h7M12 8.500a2 2 0 1 0 0-5 2 2 0 0 0 0 5ZM8 16.500a2 2 0 1 0 0-5 2 2 0 0 0 0 5Z",
  again: "M16 6V2.500M16 6h-3.500M16 6a7 7 0 1 0 1 5",
} as const;

export type IconName = keyof typeof PATHS;

/** A small picture beside text; it says nothing by itself. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      aria-hidden="true"
      className="shrink-0"
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.600"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
