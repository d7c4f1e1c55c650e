import { usePlace } from "../lib/router";
import { useTheme } from "../lib/theme";
import { IconButton } from "../ui/button";
import { Link } from "../ui/link";
import { Logo } from "./logo";

const PAGES = [
  { path: "/search", label: "Search" },
  { path: "/eval", label: "Evaluation" },
  { path: "/status", label: "Index" },
];

const THEMES = {
  "": { icon: "system", label: "Theme: as the system has it" },
  dark: { icon: "moon", label: "Theme: dark" },
  light: { icon: "sun", label: "Theme: light" },
} as const;

/** What stands over every page. */
export function Header({ onHelp }: { onHelp: () => void }) {
  const { path } = usePlace();
  const [theme, nextTheme] = useTheme();
  return (
    <header className="border-b border-line bg-surface">
      <div className="mx-auto flex h-13 max-w-[84rem] items-center gap-1 px-3 sm:px-6">
        <Link href="/" aria-label="dowse: start" className="mr-1 rounded-md sm:mr-5">
          <Logo />
        </Link>
        <nav aria-label="Pages" className="flex flex-1 sm:gap-1">
          {PAGES.map((page) => (
            <Link
              key={page.path}
              href={page.path}
              aria-current={path === page.path ? "page" : undefined}
              className="rounded-lg px-2 py-1 text-sm font-medium text-soft hover:text-ink aria-[current=page]:bg-sunken aria-[current=page]:text-ink sm:px-3"
            >
              {page.label}
            </Link>
          ))}
        </nav>
        <button
          type="button"
          onClick={onHelp}
          aria-label="Keys and query language"
          title="Keys and query language (?)"
          className="grid size-8 place-items-center rounded-lg text-sm font-semibold text-soft hover:bg-sunken hover:text-ink"
        >
          ?
        </button>
        <IconButton {...THEMES[theme]} onClick={nextTheme} />
      </div>
    </header>
  );
}
