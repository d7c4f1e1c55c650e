import { useEffect, useRef, type ReactNode } from "react";
import { IconButton } from "./button";

/** A window over the page; Escape and a click beside it close it. */
export function Dialog(props: {
  title: string;
  open: boolean;
  onClose: () => void;
  children: ReactNode;
}) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    if (props.open && !dialog?.open) dialog?.showModal();
    if (!props.open && dialog?.open) dialog.close();
  }, [props.open]);
  return (
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions -- Escape does the same
    <dialog
      ref={element}
      aria-label={props.title}
      onClose={props.onClose}
      onClick={(event) => {
        if (event.target === element.current) props.onClose();
      }}
      className="m-auto w-[min(36rem,calc(100vw-2rem))] rounded-xl border border-line bg-surface p-0 text-ink shadow-float backdrop:bg-[rgb(6_18_22/0.45)]"
    >
      <div className="p-5">
        <div className="mb-3 flex items-center justify-between">
          <h2 className="text-lg font-semibold">{props.title}</h2>
          <IconButton icon="close" label="Close" onClick={props.onClose} />
        </div>
        {props.open && props.children}
      </div>
    </dialog>
  );
}
