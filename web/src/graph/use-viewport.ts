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
// Smaller than this, names can't be read: what does not fit is outside the first view.
const READABLE = 0.75;
const MOST = 3;
// Pixels that a hand may tremble while it clicks.
const CLICK = 5;

interface Sizes {
  width: number;
  height: number;
  /** The height that the drawing is given: what the element has may be on its way there still. */
  room: number;
  /** What the first view shows, if it can't show all. */
  middle: { x: number; y: number };
}

/** Zoom and pan of a drawing: by wheel with Ctrl (also a pinch), by dragging, and by what is returned. */
export function useViewport({ width, height, room, middle: { x: middleX, y: middleY } }: Sizes) {
  const element = useRef<SVGSVGElement>(null);
  const [view, setView] = useState<Viewport>({ x: 0, y: 0, zoom: 1 });
  const fit = useCallback(() => {
    const box = element.current?.getBoundingClientRect();
    if (!box?.width || !width) return;
    const zoom = Math.max(LEAST, Math.min(1, (box.width - 32) / width, (room - 32) / height));
    setView({ x: (box.width - width * zoom) / 2, y: (room - height * zoom) / 2, zoom });
  }, [width, height, room]);
  const begin = useCallback(() => {
    const box = element.current?.getBoundingClientRect();
    if (!box?.width || !width) return;
    const zoom = Math.max(READABLE, Math.min(1, (box.width - 32) / width, (room - 32) / height));
    const start = (space: number, size: number, at: number) =>
      size * zoom <= space
        ? (space - size * zoom) / 2
        : Math.min(16, Math.max(space - 16 - size * zoom, space / 2 - at * zoom));
    setView({ x: start(box.width, width, middleX), y: start(room, height, middleY), zoom });
  }, [width, height, room, middleX, middleY]);
  useEffect(begin, [begin]);
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
