import { useState } from "react";
import { navigate, symbolAddress } from "../lib/router";
import { IconButton } from "../ui/button";
import { EDGE_KINDS } from "./edge-kinds";
import { BOX, type Drawing, type Placed } from "./layout";
import { useViewport } from "./use-viewport";

/** A drawing of symbols and references: drag to move, Ctrl and wheel to zoom, click to go there. */
export function GraphView({ drawing, index }: { drawing: Drawing; index: string }) {
  const { element, view, fit, zoomBy, handlers } = useViewport(drawing.width, drawing.height);
  const [near, setNear] = useState("");
  return (
    <div className="relative">
      <svg
        ref={element}
        role="group"
        aria-label="Graph of references"
        {...handlers}
        style={{ height: Math.min(460, Math.max(190, drawing.height + 80)) }}
        className="w-full cursor-grab touch-pan-y select-none active:cursor-grabbing"
      >
        <Arrowheads />
        <g
          transform={`translate(${view.x} ${view.y}) scale(${view.zoom})`}
          data-zoom={view.zoom.toFixed(2)}
        >
          {drawing.edges.map(({ edge, from, to }) => (
            <Edge
              key={`${edge.source} ${edge.target} ${edge.kind}`}
              from={from}
              to={to}
              kind={edge.kind}
              sure={edge.sure}
              dim={near !== "" && edge.source !== near && edge.target !== near}
              title={`${from.node.name} ${edge.kind} ${to.node.name} in line ${edge.line}: ${edge.certainty}`}
            />
          ))}
          {drawing.nodes.map((placed) => (
            <NodeBox key={placed.node.id} placed={placed} index={index} onNear={setNear} />
          ))}
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

function NodeBox(props: { placed: Placed; index: string; onNear: (id: string) => void }) {
  const { node, layer, x, y } = props.placed;
  const href = symbolAddress(props.index, node.id);
  return (
    <a
      href={href}
      className="group outline-none"
      data-layer={layer}
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
      <g transform={`translate(${x} ${y})`}>
        <rect
          width={BOX.width}
          height={BOX.height}
          rx="8"
          className={
            node.seed
              ? "fill-accent stroke-accent group-focus-visible:stroke-ink"
              : "fill-surface stroke-line group-hover:stroke-accent group-focus-visible:stroke-accent"
          }
          strokeWidth="1.500"
        />
        <text
          x="10"
          y="18"
          className={`font-mono text-[12px] font-medium ${node.seed ? "fill-onaccent" : "fill-ink"}`}
        >
          {cut(node.qualified_name.split(".").slice(-2).join("."), 28)}
        </text>
        <text
          x="10"
          y="33"
          className={`text-[10.500px] ${node.seed ? "fill-onaccent" : "fill-faint"}`}
        >
          {cut(node.role === "test" ? `test · ${node.path}` : node.path, 38, true)}
        </text>
      </g>
    </a>
  );
}

function Edge(props: {
  from: Placed;
  to: Placed;
  kind: string;
  sure: boolean;
  dim: boolean;
  title: string;
}) {
  const [x1, y1] = [props.from.x + BOX.width, props.from.y + BOX.height / 2];
  const [x2, y2] = [props.to.x - 5, props.to.y + BOX.height / 2];
  // Within a column, or against the reading direction, a line goes around.
  const bend = x2 > x1 ? (x2 - x1) / 2 : 70;
  return (
    <path
      d={`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`}
      fill="none"
      stroke={EDGE_KINDS[props.kind]?.color ?? "var(--signal)"}
      strokeWidth="1.500"
      strokeDasharray={props.sure ? undefined : "4 4"}
      markerEnd={`url(#arrow-${props.kind})`}
      opacity={props.dim ? 0.15 : 0.8}
      className="transition-opacity"
    >
      <title>{props.title}</title>
    </path>
  );
}

function Arrowheads() {
  return (
    <defs>
      {Object.entries(EDGE_KINDS).map(([kind, { color }]) => (
        <marker
          key={kind}
          id={`arrow-${kind}`}
          viewBox="0 0 8 8"
          refX="6"
          refY="4"
          markerWidth="6"
          markerHeight="6"
          orient="auto-start-reverse"
        >
          <path d="M0 0.500 7 4 0 7.500z" fill={color} />
        </marker>
      ))}
    </defs>
  );
}

function cut(text: string, most: number, keepEnd = false): string {
  if (text.length <= most) return text;
  return keepEnd ? `…${text.slice(1 - most)}` : `${text.slice(0, most - 1)}…`;
}
