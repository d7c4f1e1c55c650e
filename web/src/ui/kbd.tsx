/** A key to press. */
export function Kbd({ children }: { children: string }) {
  return (
    <kbd className="inline-grid h-5 min-w-5 place-items-center rounded border border-line bg-sunken px-1 text-[11px] leading-none text-soft">
      {children}
    </kbd>
  );
}
