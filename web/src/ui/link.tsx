import type { AnchorHTMLAttributes, MouseEvent } from "react";
import { navigate } from "../lib/router";

/** A link inside the page; with a modifier it behaves as any other link. */
export function Link({
  href,
  onClick,
  ...rest
}: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const special =
      event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0;
    if (event.defaultPrevented || special) return;
    event.preventDefault();
    navigate(href);
  };
  // eslint-disable-next-line jsx-a11y/anchor-has-content -- its children come with the rest
  return <a {...rest} href={href} onClick={follow} />;
}
