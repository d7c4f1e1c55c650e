import { count } from "../../lib/format";

const LABELS: Record<string, string> = { dowse: "dowse", commit: "dowse commit" };
const CODE = ["command", "commit"];

/** Where the figures come from: commit, encoder, settings, machine, command; and how to read them. */
export function About({ about }: { about: Record<string, unknown> }) {
  const facts = Object.entries(about).filter(([, value]) => !isEmpty(value));
  return (
    <section aria-label="About" className="card px-5 py-4 text-sm">
      {facts.length > 0 && <h2 className="mb-2 text-base font-semibold">About this run</h2>}
      <dl className="grid gap-x-6 gap-y-1 sm:grid-cols-[auto_1fr]">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="label">{LABELS[name] ?? capitalised(words(name))}</dt>
            <dd className="wrap-anywhere text-soft">
              {CODE.includes(name) ? <code>{flat(value)}</code> : flat(value)}
            </dd>
          </div>
        ))}
      </dl>
      <h2 className="mt-4 mb-1 text-base font-semibold">How to read this</h2>
      <p className="max-w-[48rem] text-soft">
        Intervals are 95 % bootstrap confidence intervals of the mean over questions. A difference
        is called real if a paired randomisation test gives p below .05, else noise. MRR is cut at
        100: what lies deeper counts as not found.
      </p>
    </section>
  );
}

/** Write any plain value on one line. */
export function flat(value: unknown): string {
  if (Array.isArray(value)) return value.map(flat).join(", ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return Number.isInteger(value) ? count(value) : String(value);
  if (typeof value === "string") return value;
  const named = Object.entries(value ?? {}).filter(([, each]) => !isEmpty(each));
  return named.map(([name, each]) => `${words(name)} ${flat(each)}`).join(", ");
}

function isEmpty(value: unknown): boolean {
  if (value === "" || value === null || value === undefined) return true;
  return typeof value === "object" && !Object.keys(value).length;
}

function words(name: string): string {
  return name.replaceAll("_", " ");
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
