import type { HLJSApi, Language } from "highlight.js";

/** Zig, which highlight.js does not know: enough of it to read by. */
export default function zig(hljs: HLJSApi): Language {
  return {
    name: "Zig",
    keywords: {
      keyword:
        "align allowzero and anyframe anytype asm async await break callconv catch comptime const continue " +
        "defer else enum errdefer error export extern fn for if inline linksection noalias noinline nosuspend " +
        "opaque or orelse packed pub resume return struct suspend switch test threadlocal try union " +
        "unreachable usingnamespace var volatile while",
      literal: "true false null undefined",
      type: "bool void noreturn type anyerror isize usize u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f16 f32 f64 f128",
    },
    contains: [
      hljs.C_LINE_COMMENT_MODE,
      hljs.QUOTE_STRING_MODE,
      { scope: "string", begin: /\\\\/, end: /$/ },
      { scope: "string", begin: /'/, end: /'/, contains: [hljs.BACKSLASH_ESCAPE] },
      { scope: "built_in", begin: /@\w+/ },
      { begin: [/\bfn/, /\s+/, /\w+/], beginScope: { 1: "keyword", 3: "title.function" } },
      hljs.C_NUMBER_MODE,
    ],
  };
}
