import { Link } from "../ui/link";

/** An address that leads nowhere. */
export function NotFoundPage() {
  return (
    <section className="py-20">
      <h1 className="text-2xl font-semibold">There is nothing at this address</h1>
      <p className="mt-2 text-soft">
        <Link className="link" href="/search">
          Search
        </Link>{" "}
        finds what is indexed.
      </p>
    </section>
  );
}
