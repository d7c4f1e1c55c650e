import { useState } from "react";
import { useStatus } from "../shell/status-context";
import { IconButton } from "../ui/button";
import { record } from "./record";
import { useConsent } from "./use-consent";

interface Props {
  query: string;
  hit: { id: string; index: string; rank: number };
}

/** Thumbs: was this what was asked for? Only where choices are recorded. */
export function FeedbackButtons({ query, hit }: Props) {
  const [consent] = useConsent();
  const enabled = useStatus().data?.feedback;
  const [said, setSaid] = useState<{ kind: "up" | "down"; about: string } | undefined>();
  if (consent !== "yes" || !enabled) return null;
  const about = `${query} ${hit.id}`;
  const current = said?.about === about ? said.kind : undefined;
  const say = async (kind: "up" | "down") => {
    if (await record({ query, hit, kind })) setSaid({ kind, about });
  };
  return (
    <>
      <IconButton
        icon="up"
        label="Good answer"
        aria-pressed={current === "up"}
        className="aria-pressed:text-choice"
        onClick={() => void say("up")}
      />
      <IconButton
        icon="down"
        label="Wrong answer"
        aria-pressed={current === "down"}
        className="aria-pressed:text-choice"
        onClick={() => void say("down")}
      />
    </>
  );
}
