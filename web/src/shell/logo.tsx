/** A dowsing rod over water, and the name. */
export function Logo() {
  return (
    <span className="flex items-center gap-2 text-[17px] font-semibold tracking-tight text-ink">
      <svg
        aria-hidden="true"
        width="22"
        height="22"
        viewBox="0 0 22 22"
        fill="none"
        strokeLinecap="round"
      >
        <path
          d="M4 3l7 9 7-9M11 12v3.500"
          stroke="currentColor"
          strokeWidth="2"
          strokeLinejoin="round"
        />
        <path d="M5.500 19.500q5.500-3.500 11 0" stroke="var(--accent)" strokeWidth="2" />
      </svg>
      {/* On the narrowest phones the links need its place. */}
      <span className="max-[22rem]:hidden">dowse</span>
    </span>
  );
}
