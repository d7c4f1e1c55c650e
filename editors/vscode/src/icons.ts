const ICONS: Readonly<Record<string, string>> = {
  class: "symbol-class",
  constant: "symbol-constant",
  enum: "symbol-enum",
  file: "symbol-file",
  function: "symbol-function",
  impl: "symbol-class",
  interface: "symbol-interface",
  macro: "symbol-function",
  method: "symbol-method",
  module: "symbol-module",
  object: "symbol-object",
  section: "symbol-string",
  struct: "symbol-structure",
  text: "symbol-string",
  trait: "symbol-interface",
  type: "symbol-class",
};

/** Return the name of the icon for a kind of symbol; callers come without one. */
export function iconName(kind: string): string {
  return ICONS[kind] ?? "symbol-misc";
}

/** Escape what pickers would show as an icon: names and code are not ours. */
export function escapeIcons(text: string): string {
  return text.replaceAll("$(", "\\$(");
}
