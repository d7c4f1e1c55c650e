import {
  useCallback,
  useEffect,
  useRef,
  useState,
  type MouseEvent,
  type PointerEvent,
} from "react";

export interface Viewport {
  x: number;
  y: number;
  zoom: number;
}

const LEAST = 0.2;
const MOST = 3;
// Pixels that a hand may tremble while it clicks.
const CLICK = 5;

/** Zoom and pan of a drawing: by wheel with Ctrl (also a pinch), by dragging, and by what is returned. */
export function useViewport(width: number, height: number) {
  const element = useRef<SVGSVGElement>(null);
  const [view, setView] = useState<Viewport>({ x: 0, y: 0, zoom: 1 });
  const fit = useCallback(() => {
    const box = element.current?.getBoundingClientRect();
    if (!box?.width || !width) return;
    const zoom = Math.max(LEAST, Math.min(1, (box.width - 32) / width, (box.height - 32) / height));
    setView({ x: (box.width - width * zoom) / 2, y: (box.height - height * zoom) / 2, zoom });
  }, [width, height]);
  useEffect(fit, [fit]);
  const zoomBy = useCallback((factor: number, at?: { x: number; y: number }) => {
    const box = element.current?.getBoundingClientRect();
    const [x, y] = at ? [at.x, at.y] : [(box?.width ?? 0) / 2, (box?.height ?? 0) / 2];
    setView((before) => {
      const zoom = Math.max(LEAST, Math.min(MOST, before.zoom * factor));
      const scale = zoom / before.zoom;
      return { x: x - (x - before.x) * scale, y: y - (y - before.y) * scale, zoom };
    });
  }, []);
  useEffect(() => {
    const svg = element.current;
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
      event.preventDefault();
      const box = (event.currentTarget as SVGSVGElement).getBoundingClientRect();
      zoomBy(Math.exp(-event.deltaY / 300), {
        x: event.clientX - box.left,
        y: event.clientY - box.top,
      });
    };
    svg?.addEventListener("wheel", wheel, { passive: false });
    return () => svg?.removeEventListener("wheel", wheel);
  }, [zoomBy]);
  const way = useRef(0);
  const handlers = {
    onPointerDown: () => {
      way.current = 0;
    },
    onPointerMove: ({ buttons, movementX, movementY }: PointerEvent) => {
      if (buttons !== 1) return;
      way.current += Math.abs(movementX) + Math.abs(movementY);
      setView((before) => ({ ...before, x: before.x + movementX, y: before.y + movementY }));
    },
    // Who drags by a box does not mean to go there; keys make clicks without a count.
    onClickCapture: (event: MouseEvent) => {
      if (way.current < CLICK || event.detail === 0) return;
      event.preventDefault();
      event.stopPropagation();
    },
  };
  return { element, view, fit, zoomBy, handlers };
}
