import { measure } from "../lib/format";
import type { Scale } from "./scale";

export const WIDTH = 420;
export const LEFT = 36;
export const RIGHT = 412;

interface AxesProps {
  x: Scale;
  y: Scale;
  /** Values of x with their labels. */
  columns: readonly (readonly [number, string])[];
  /** Values of y, which are shares. */
  shares: readonly number[];
  /** Of the x axis. */
  title: string;
  top: number;
  bottom: number;
}

/** The grid of a plot of shares, with labels at its left and below it. */
export function Axes({ x, y, columns, shares, title, top, bottom }: AxesProps) {
  return (
    <>
      {shares.map((share) => (
        <g key={share}>
          <line x1={LEFT} x2={RIGHT} y1={y(share)} y2={y(share)} stroke="var(--line)" />
          <text x={LEFT - 5} y={y(share) + 3} textAnchor="end" className="fill-faint text-[9px]">
            {measure(share, 2)}
          </text>
        </g>
      ))}
      {columns.map(([value, text]) => (
        <g key={value}>
          <line x1={x(value)} x2={x(value)} y1={top} y2={bottom} stroke="var(--line)" />
          <text x={x(value)} y={bottom + 13} textAnchor="middle" className="fill-faint text-[9px]">
            {text}
          </text>
        </g>
      ))}
      <text x={RIGHT} y={bottom + 29} textAnchor="end" className="fill-faint text-[10px]">
        {title}
      </text>
    </>
  );
}
