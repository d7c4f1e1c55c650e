import { useEffect, useState } from "react";
import { Notice } from "../../ui/notice";

// Nearly all searches are done in a tenth of this.
const SLOW_MS = 1500;

/** Said when a search takes long: nobody should wonder whether anything happens. */
export function SlowNotice({ busy }: { busy: boolean }) {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    if (!busy) return;
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => {
      clearTimeout(timer);
      setSlow(false);
    };
  }, [busy]);
  if (!slow || !busy) return null;
  return (
    <Notice role="status">
      <strong className="font-semibold text-ink">Still searching.</strong> The first search after
      the start loads the model, which takes some seconds. What takes too long is left out, and
      named.
    </Notice>
  );
}
