import { resolve } from "node:path";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { licences } from "./scripts/licences.ts";
import { sourcesHash } from "./scripts/stamp.ts";

const here = import.meta.dirname;
// Where `dowse serve` listens while the page is developed; scripts/dev sets it.
const server = process.env["DOWSE_SERVER"] ?? "http://127.0.0.1:8742";
const token = process.env["DOWSE_TOKEN"] ?? "";

const outDir = resolve(here, "../src/dowse/interfaces/http/page");
const target = "es2022";

export default defineConfig({
  plugins: [react(), tailwindcss(), stamp()],
  build: {
    outDir,
    emptyOutDir: true,
    target,
    modulePreload: { polyfill: false },
    // The policy of the server allows no data: addresses.
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        entryFileNames: "assets/[name]-[hash].js",
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
  server: {
    proxy: {
      "/api": {
        target: server,
        changeOrigin: true,
        // The server refuses foreign origins; in development we are one.
        headers: { origin: server, authorization: `Bearer ${token}` },
      },
    },
  },
});

/** Write what tells whether the built page belongs to these sources, and the licences of what is in it. */
function stamp(): Plugin {
  return {
    name: "dowse-stamp",
    apply: "build",
    generateBundle() {
      const about = JSON.stringify({ sources: sourcesHash(here) }) + "\n";
      this.emitFile({ type: "asset", fileName: "build.json", source: about });
      this.emitFile({ type: "asset", fileName: "licences.txt", source: licences(here) });
    },
  };
}
