/** A text that was found: who said it when, and what stands around it. */
import { Time } from "../../parts/Facts.tsx"
import { Link } from "../../parts/Link.tsx"
import * as Route from "../../route/Route.ts"
import type { SearchResult } from "../../server/Types.ts"
import { Plain } from "../../text/Plain.tsx"

/** The call, in its session. */
export const placeOf = ({ event_id, session }: SearchResult): string =>
  Route.to(["sessions", session], { call: event_id })

/** Places in the snippet are in code points. */
const Snippet = ({ hit: { hit_end, hit_start, snippet } }: { readonly hit: SearchResult }) => {
  const characters = Array.from(snippet)
  const part = (from: number, to?: number) => characters.slice(from, to).join("")
  return (
    <p class="snippet">
      <Plain text={part(0, hit_start)} />
      <Plain as="mark" text={part(hit_start, hit_end)} />
      <Plain text={part(hit_end)} />
    </p>
  )
}

export const Hit = ({ hit, title }: { readonly hit: SearchResult; readonly title: string }) => (
  <>
    <Link to={placeOf(hit)} text={title} /> <Plain as="small" text={hit.role} />, first said <Time at={hit.at} />
    <Snippet hit={hit} />
  </>
)
