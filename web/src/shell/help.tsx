import { Dialog } from "../ui/dialog";
import { Kbd } from "../ui/kbd";

const KEYS: [string[], string][] = [
  [["/"], "to the search field"],
  [["↓", "↑"], "next and previous hit, also while typing"],
  [["Enter"], "search now; open the selected hit"],
  [["c"], "copy path:line of the selected hit"],
  [["o"], "open the selected hit in the editor"],
  [["Esc"], "leave the field, close what is open"],
  [["?"], "this help"],
];

const LANGUAGE: [string, string][] = [
  ["parse cookie header", "by keywords and by meaning; no word need be in common"],
  ["getUserName", "a name: its definition first, then what uses it"],
  ["what calls open_session", "structure: callers, users, subclasses, impact"],
  ["retry lang:go -test path:internal/**", "filters, and what to leave out"],
  ['"connection reset" kind:function', "an exact phrase"],
  ["/func \\w+Handler\\(/", "lines that match a pattern"],
  ["redis OR memcached", "one of the two must occur"],
];

/** Keys and the query language. */
export function Help({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog title="Keys and query language" open={open} onClose={onClose}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 text-sm">
        {KEYS.map(([keys, what]) => (
          <div key={what} className="contents">
            <dt className="flex gap-1">
              {keys.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dt>
            <dd className="text-soft">{what}</dd>
          </div>
        ))}
      </dl>
      <h3 className="mt-5 mb-2 font-semibold">What you can ask</h3>
      <dl className="grid gap-x-4 gap-y-1.5 text-sm sm:grid-cols-[auto_1fr]">
        {LANGUAGE.map(([query, what]) => (
          <div key={query} className="contents">
            <dt>
              <code className="text-[12.500px] text-accent">{query}</code>
            </dt>
            <dd className="mb-1 text-soft sm:mb-0">{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
