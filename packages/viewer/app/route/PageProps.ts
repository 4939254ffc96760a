/** What every page is given. */
import type { Me } from "../server/Types.ts"

export interface PageProps {
  readonly me: Me
  readonly query: URLSearchParams
  /** The segments of the place after the page's own. */
  readonly rest: ReadonlyArray<string>
}
