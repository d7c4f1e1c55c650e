import { useEffect, useState } from "react";
import { IconButton } from "./button";

/** A button that copies a text and says so. */
export function CopyButton(props: { text: string; label: string; onCopied?: () => void }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1600);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    await copyText(props.text);
    setCopied(true);
    props.onCopied?.();
  };
  return (
    <IconButton
      icon={copied ? "check" : "copy"}
      label={copied ? "Copied" : props.label}
      onClick={() => void copy()}
    />
  );
}

/** Put a text on the clipboard, also where the browser gives none to plain HTTP addresses. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.setAttribute("aria-hidden", "true");
    document.body.append(area);
    area.select();
    // Outdated, and the only way without a secure context.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    document.execCommand("copy");
    area.remove();
  }
}
