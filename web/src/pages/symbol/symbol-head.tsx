import type { SymbolAnswer } from "../../api/types";
import { plural } from "../../lib/format";
import { place } from "../../lib/place";
import { symbolAddress } from "../../lib/router";
import { buttonClass } from "../../ui/button";
import { CopyButton } from "../../ui/copy";
import { Icon } from "../../ui/icon";
import { Link } from "../../ui/link";
import { searchAddress } from "../search/search-state";
import { Doc } from "./doc";

/** What the symbol is, where it stands, what it says of itself, and what one can do with it. */
export function SymbolHead({ answer }: { answer: SymbolAnswer }) {
  const { symbol, index, editor, doc, is_name, owner } = answer;
  const lines = symbol.end_line - symbol.start_line + 1;
  return (
    <header>
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0">
          <p className="mono flex items-center text-faint">
            <span className="wrap-anywhere">
              {index} · {place(symbol)}
            </span>
            <CopyButton text={place(symbol)} label="Copy path:line" />
          </p>
          <h1 className="font-mono text-xl font-semibold wrap-anywhere sm:text-2xl">
            {symbol.qualified_name}
          </h1>
          <p className="mt-1 text-sm text-faint">
            {[symbol.kind, symbol.language, !is_name && plural(lines, "line"), symbol.role]
              .filter(Boolean)
              .join(" · ")}
            {owner && (
              <>
                {" · in "}
                <Link href={symbolAddress(index, owner.id)} className="text-accent hover:underline">
                  {owner.kind} {owner.qualified_name}
                </Link>
              </>
            )}
          </p>
        </div>
        <div className="flex gap-2">
          <Link
            className={buttonClass()}
            href={searchAddress({ q: `what ${is_name ? "uses" : "calls"} ${symbol.name}`, index })}
          >
            Search its {is_name ? "uses" : "callers"}
          </Link>
          {editor && (
            <a className={buttonClass("strong")} href={editor}>
              <Icon name="open" />
              Open in editor
            </a>
          )}
        </div>
      </div>
      {doc && <Doc text={doc} />}
    </header>
  );
}
