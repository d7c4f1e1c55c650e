/** A thin line that moves while something is on its way; invisible for what comes at once. */
export function BusyLine({ busy, label }: { busy: boolean; label: string }) {
  return (
    <div className="h-0.5 overflow-hidden" role="status" aria-live="polite">
      {busy && (
        <div className="late">
          <div className="h-0.5 w-1/3 animate-[sweep_1.100s_ease-in-out_infinite] rounded bg-accent" />
          <span className="sr-only">{label}</span>
        </div>
      )}
    </div>
  );
}

/** Where something will stand that takes longer. */
export function Skeleton({ className = "" }: { className?: string }) {
  return (
    <div aria-hidden="true" className={`late animate-pulse rounded-card bg-line/60 ${className}`} />
  );
}
