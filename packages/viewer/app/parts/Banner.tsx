/** Says above what is shown that it is not all, or not the latest. */
import type { ServerError } from "../server/Client.ts"
import { titleOf } from "./States.tsx"

interface Props {
  readonly error: ServerError
  readonly again: () => void
}

/** Where a list was read in part. */
export const RestMissing = ({ again, error }: Props) => (
  <div class="banner" role="alert">
    <span>
      <b>The rest could not be read</b>: {titleOf(error)}.
    </span>
    <button type="button" onClick={again}>
      Try again
    </button>
  </div>
)

/** Where a list could not be read again. */
export const Outdated = ({ error }: Pick<Props, "error">) => (
  <p class="banner" role="status">
    <span>
      <b>{titleOf(error)}</b>: the list is as it was, and is read again by itself.
    </span>
  </p>
)

/** Where the page does not learn what is recorded. */
export const Reconnecting = () => (
  <p class="banner" role="status">
    Reconnecting: what is recorded meanwhile appears later
  </p>
)
