import { useStatus } from "./status-context";

/** What stands under every page. */
export function Footer() {
  const version = useStatus().data?.dowse;
  return (
    <footer className="mx-auto flex w-full max-w-[84rem] flex-wrap gap-x-5 gap-y-1 px-3 py-6 text-xs text-faint sm:px-6">
      <span>dowse {version}</span>
      <span>Everything stays on this machine.</span>
      <a className="hover:text-ink hover:underline sm:ml-auto" href="/api/v1/openapi.json">
        HTTP API
      </a>
      <a className="hover:text-ink hover:underline" href="/licences.txt">
        Licences
      </a>
    </footer>
  );
}
