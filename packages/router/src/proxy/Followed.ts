/** What is done about a request while it passes, whatever mount it came to. */
import type { Copies } from "./Copies.ts"
import type { Destination } from "./Gate.ts"
import type { Ending } from "./UpstreamClient.ts"

export interface Followed {
  readonly destination: Destination
  /** Undefined where nothing is recorded. */
  readonly copies: Copies | undefined
  /** Called when nothing passes any more, with what ended it early, and with whether the upstream had begun to answer. */
  readonly onEnd: (ending: Ending | undefined, isAnswered: boolean) => void
}
