import type { TableNotes } from "../../api/types";

/** What a table says in words, where the report was written to a file: the best row, and what is amiss. */
export function Conclusion({ notes }: { notes: TableNotes | undefined }) {
  if (!notes) return null;
  return (
    <div className="max-w-[60rem] text-sm">
      {notes.conclusion && <p className="text-base">{notes.conclusion}.</p>}
      <p className="text-faint">{[notes.facts.join(", "), ...notes.notes].join("; ")}.</p>
      {notes.remarks.map((remark) => (
        <p key={remark} className="font-semibold">
          Note: {remark}.
        </p>
      ))}
    </div>
  );
}
