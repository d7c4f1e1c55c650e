import type { ButtonHTMLAttributes, ReactNode } from "react";
import { Icon, type IconName } from "./icon";

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: "plain" | "quiet" | "strong";
  icon?: IconName;
  children?: ReactNode;
}

const LOOKS = {
  plain: "border-line bg-surface text-ink hover:border-edge",
  quiet: "border-transparent text-soft hover:bg-sunken hover:text-ink",
  strong: "border-accent bg-accent text-onaccent hover:opacity-90",
};

const SHAPE =
  "inline-flex min-h-8 items-center justify-center gap-1.5 rounded-lg border text-sm font-medium whitespace-nowrap transition-colors disabled:opacity-50";

/** A button with words on it. */
export function Button({ look = "plain", icon, children, className = "", ...rest }: Props) {
  return (
    <button type="button" {...rest} className={`${SHAPE} px-3 ${LOOKS[look]} ${className}`}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button that is only a picture; its label is for those who can't see it, and for the pointer. */
export function IconButton({
  icon,
  label,
  look = "quiet",
  className = "",
  ...rest
}: Props & { icon: IconName; label: string }) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      title={label}
      className={`${SHAPE} size-8 ${LOOKS[look]} ${className}`}
    >
      <Icon name={icon} />
    </button>
  );
}

/** The look of a button for a link. */
export function buttonClass(look: keyof typeof LOOKS = "plain"): string {
  return `${SHAPE} px-3 ${LOOKS[look]}`;
}
