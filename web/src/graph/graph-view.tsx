import { useState, type KeyboardEvent } from "react";
import { plural } from "../lib/format";
import { navigate, symbolAddress } from "../lib/router";
import { IconButton } from "../ui/button";
import { EDGE_KINDS } from "./edge-kinds";
import { BOX, type Box, type Drawing, type Line, type Row } from "./layout";
import { useViewport } from "./use-viewport";

// Taller than this, a drawing is moved rather than the page made longer.
const MOST_HEIGHT = 720;

interface Props {
  drawing: Drawing;
  index: string;
  /** The columns whose tests are open. */
  open: ReadonlySet<number>;
  onTests: (layer: number) => void;
  onMore: () => void;
}

/** A drawing of symbols and references: drag to move, Ctrl and wheel to zoom, click to go there. */
export function GraphView({ drawing, index, open, onTests, onMore }: Props) {
  const height = drawing.height + 32;
  // Below a stack is room for the buttons.
  const room = Math.max(190, drawing.stacked ? height + 56 : Math.min(MOST_HEIGHT, height));
  const { element, view, fit, zoomBy, handlers } = useViewport({ ...drawing, room });
  const [near, setNear] = useState("");
  return (
    <div className="relative">
      <svg
        ref={element}
        role="group"
        aria-label="Graph of references"
        {...handlers}
        style={{ height: room }}
        className="w-full cursor-grab touch-pan-y select-none active:cursor-grabbing"
      >
        <Arrowheads />
        <g
          transform={`translate(${view.x} ${view.y}) scale(${view.zoom})`}
          data-zoom={view.zoom.toFixed(2)}
        >
          {drawing.lines.map((line) => (
            <Reference
              key={line.id}
              line={line}
              stacked={drawing.stacked}
              dim={near !== "" && line.from.id !== near && line.to.id !== near}
            />
          ))}
          {drawing.boxes.map((box) =>
            box.kind === "file" ? (
              <FileBox key={box.id} box={box} index={index} onNear={setNear} />
            ) : (
              <ActionBox
                key={box.id}
                box={box}
                isOpen={open.has(box.layer)}
                onNear={setNear}
                onAction={() => (box.kind === "tests" ? onTests(box.layer) : onMore())}
              />
            ),
          )}
        </g>
      </svg>
      <div className="absolute right-2 bottom-2 flex gap-1">
        <IconButton look="plain" icon="minus" label="Zoom out" onClick={() => zoomBy(1 / 1.3)} />
        <IconButton look="plain" icon="plus" label="Zoom in" onClick={() => zoomBy(1.3)} />
        <IconButton look="plain" icon="fit" label="Show all" onClick={fit} />
      </div>
    </div>
  );
}

/** A file, and the symbols of it that refer to the one of the page. */
function FileBox(props: { box: Box; index: string; onNear: (id: string) => void }) {
  const { box } = props;
  return (
    <g data-file={box.title}>
      <rect
        x={box.x}
        y={box.y}
        width={BOX.width}
        height={box.height}
        rx="8"
        className="fill-surface stroke-line"
      />
      <text x={box.x + 10} y={box.y + 17} className="fill-faint text-[11px]">
        {cut(box.title, 42, true)}
        <title>{box.title}</title>
      </text>
      {box.rows.map((row) => (
        <Symbol key={row.node.id} row={row} box={box} index={props.index} onNear={props.onNear} />
      ))}
    </g>
  );
}

function Symbol(props: { row: Row; box: Box; index: string; onNear: (id: string) => void }) {
  const { node, y } = props.row;
  const href = symbolAddress(props.index, node.id);
  return (
    <a
      href={href}
      className="group outline-none"
      data-layer={props.box.layer}
      draggable={false}
      onPointerEnter={() => props.onNear(node.id)}
      onPointerLeave={() => props.onNear("")}
      onFocus={() => props.onNear(node.id)}
      onBlur={() => props.onNear("")}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        navigate(href);
      }}
    >
      <title>{`${node.qualified_name}\n${node.path}:${node.start_line}`}</title>
      <rect
        x={props.box.x + 4}
        y={y - BOX.row / 2 + 1}
        width={BOX.width - 8}
        height={BOX.row - 2}
        rx="5"
        strokeWidth="1.500"
        className={
          node.seed
            ? "fill-accent stroke-accent group-focus-visible:stroke-ink"
            : "fill-surface stroke-transparent group-hover:fill-wash group-focus-visible:stroke-accent"
        }
      />
      <text
        x={props.box.x + 12}
        y={y + 4}
        className={`font-mono text-[12px] font-medium ${node.seed ? "fill-onaccent" : "fill-ink"}`}
      >
        {cut(node.qualified_name.split(".").slice(-2).join("."), 31)}
      </text>
    </a>
  );
}

/** All tests of a column in one box that opens, or what the column does not show yet. */
function ActionBox(props: {
  box: Box;
  isOpen: boolean;
  onNear: (id: string) => void;
  onAction: () => void;
}) {
  const { box, isOpen } = props;
  const isTests = box.kind === "tests";
  const label = isTests
    ? `${isOpen ? "▾" : "▸"} ${plural(box.count, "test")}`
    : `Show ${box.count} more`;
  return (
    <g
      role="button"
      tabIndex={0}
      aria-label={isTests ? plural(box.count, "test") : label}
      aria-expanded={isTests ? isOpen : undefined}
      className="group cursor-pointer outline-none"
      onPointerEnter={() => props.onNear(box.id)}
      onPointerLeave={() => props.onNear("")}
      onClick={props.onAction}
      onKeyDown={(event: KeyboardEvent) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        props.onAction();
      }}
    >
      <rect
        x={box.x}
        y={box.y}
        width={BOX.width}
        height={box.height}
        rx="8"
        strokeDasharray={isTests ? undefined : "3 3"}
        className="fill-sunken stroke-line group-hover:stroke-accent group-focus-visible:stroke-accent"
      />
      <text x={box.x + 12} y={box.y + 16.5} className="fill-soft text-[12px] font-medium">
        {label}
      </text>
    </g>
  );
}

function Reference({ line, stacked, dim }: { line: Line; stacked: boolean; dim: boolean }) {
  const { edge, from, to } = line;
  return (
    <path
      d={stacked ? beside(line) : across(line)}
      fill="none"
      stroke={EDGE_KINDS[edge.kind]?.color ?? "var(--signal)"}
      strokeWidth="1.500"
      strokeDasharray={edge.sure ? undefined : "4 4"}
      markerEnd={`url(#arrow-${edge.kind})`}
      opacity={dim ? 0.15 : 0.8}
      className="transition-opacity"
    >
      <title>{`${from.name} ${edge.kind} ${to.name} in line ${edge.line}: ${edge.certainty}`}</title>
    </path>
  );
}

/** From the right side of one column to the left side of the next. */
function across({ from, to }: Line): string {
  const [x1, x2] = [from.x + BOX.width, to.x - 5];
  // Within a column, or against the reading direction, a line goes around.
  const bend = x2 > x1 ? (x2 - x1) / 2 : 70;
  return `M${x1} ${from.y}C${x1 + bend} ${from.y} ${x2 - bend} ${to.y} ${x2} ${to.y}`;
}

/** Along the left side of a stack; the farther, the wider. */
function beside({ from, to }: Line): string {
  const bend = Math.min(38, 14 + Math.abs(to.y - from.y) / 12);
  return `M${from.x} ${from.y}C${from.x - bend * 1.3} ${from.y} ${to.x - bend * 1.3} ${to.y} ${to.x - 5} ${to.y}`;
}

function Arrowheads() {
  return (
    <defs>
      {Object.entries(EDGE_KINDS).map(([kind, { color, head, hollow }]) => (
        <marker
          key={kind}
          id={`arrow-${kind}`}
          viewBox="0 0 8 8"
          refX="6"
          refY="4"
          markerWidth="7"
          markerHeight="7"
          orient="auto-start-reverse"
        >
          <path d={head} fill={hollow ? "var(--surface)" : color} stroke={color} />
        </marker>
      ))}
    </defs>
  );
}

function cut(text: string, most: number, keepEnd = false): string {
  if (text.length <= most) return text;
  return keepEnd ? `…${text.slice(1 - most)}` : `${text.slice(0, most - 1)}…`;
}
