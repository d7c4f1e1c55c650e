import { createHash } from "node:crypto";
import type { Plugin } from "vite";

/**
 * Put the script and the style sheet of a page into its document, which then needs no other file, and the
 * licences of what is in it, as they ask for.
 */
export function singleFile(licences: string): Plugin {
  return {
    name: "dowse-single-file",
    apply: "build",
    enforce: "post",
    generateBundle(_, bundle) {
      const script = { text: "", tag: /\s*<script type="module"[^>]*src=[^>]*><\/script>/ };
      const style = { text: "", tag: /\s*<link rel="stylesheet"[^>]*>/ };
      let page = "";
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === "chunk") script.text += file.code;
        else if (name.endsWith(".css")) style.text += String(file.source);
        else if (name.endsWith(".html")) page = String(file.source);
        Reflect.deleteProperty(bundle, name);
      }
      // Neither may end its element early.
      const code = script.text.replaceAll("</script", "<\\/script");
      const css = style.text.replaceAll("</style", "<\\/style");
      const source = page
        .replace(script.tag, "")
        .replace(style.tag, "")
        .replace("<title>", () => `${policy(code)}\n    <title>`)
        .replace(
          "</head>",
          () => `<style>${css}</style>\n<script type="module">${code}</script>\n</head>`,
        );
      const whole = source.replace("</body>", () => `${block(licences)}</body>`);
      this.emitFile({ type: "asset", fileName: "report.html", source: whole });
    },
  };
}

function block(text: string): string {
  return `<script type="text/plain" id="licences">\n${text}</script>\n`;
}

/** Nothing is loaded, and nothing runs but this script, whatever a report contains. */
function policy(code: string): string {
  const hash = createHash("sha256").update(code).digest("base64");
  const rules = `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; font-src data:`;
  return `<meta http-equiv="Content-Security-Policy" content="${rules}" />`;
}
