import { lazy, Suspense, useEffect, useState } from "react";
import { Consent } from "./feedback/consent";
import { useKeys } from "./lib/keys";
import { usePlace } from "./lib/router";
import { LandingPage } from "./pages/landing/landing-page";
import { NotFoundPage } from "./pages/not-found-page";
import { SearchPage } from "./pages/search/search-page";
import { Footer } from "./shell/footer";
import { Header } from "./shell/header";
import { Help } from "./shell/help";
import { StatusProvider } from "./shell/status-context";
import { Stumble } from "./shell/stumble";

// What is not needed to search comes when it is asked for.
const SymbolPage = lazy(async () => ({
  default: (await import("./pages/symbol/symbol-page")).SymbolPage,
}));
const EvalPage = lazy(async () => ({ default: (await import("./pages/eval/eval-page")).EvalPage }));
const StatusPage = lazy(async () => ({
  default: (await import("./pages/status/status-page")).StatusPage,
}));

/** The whole page. */
export function App() {
  const [help, setHelp] = useState(false);
  const { path, params } = usePlace();
  const name = title(path, params);
  useKeys({ "?": () => setHelp(true) });
  useEffect(() => {
    if (name) document.title = name;
  }, [name]);
  return (
    <StatusProvider>
      <div className="flex min-h-dvh flex-col">
        <a
          href="#main"
          className="sr-only focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:z-50 focus:rounded-lg focus:bg-accent focus:px-3 focus:py-1.5 focus:text-onaccent"
        >
          Skip to the content
        </a>
        <Header onHelp={() => setHelp(true)} />
        <main id="main" className="mx-auto w-full max-w-[84rem] flex-1 px-3 sm:px-6">
          <Stumble key={path}>
            <Suspense fallback={null}>
              <Page path={path} />
            </Suspense>
          </Stumble>
        </main>
        <Consent />
        <Footer />
      </div>
      <Help open={help} onClose={() => setHelp(false)} />
    </StatusProvider>
  );
}

function Page({ path }: { path: string }) {
  const [, page, ...rest] = path.split("/");
  if (!page) return <LandingPage />;
  if (page === "search") return <SearchPage />;
  if (page === "symbol" && rest.length >= 2) {
    const [index = "", ...id] = rest.map(decodeURIComponent);
    return <SymbolPage key={path} index={index} id={id.join("/")} />;
  }
  if (page === "eval") return <EvalPage />;
  if (page === "status") return <StatusPage />;
  return <NotFoundPage />;
}

/** What the tab, the history and bookmarks call a place; "" of a symbol, whose page says it itself. */
function title(path: string, params: URLSearchParams): string {
  const names: Record<string, string> = { search: "Search", eval: "Evaluation", status: "Index" };
  const page = path.split("/")[1] ?? "";
  if (page === "symbol") return "";
  const name = (page === "search" && params.get("q")) || names[page];
  return name ? `${name} · dowse` : "dowse";
}
