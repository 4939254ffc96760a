/** How many calls failed, as a link to how they did, wherever that is said. */
import * as Format from "../text/Format.ts"

interface Props {
  readonly count: number
  /** The place of these failures. */
  readonly to: string
}

export const FailedCount = ({ count, to }: Props) => (
  <a class="bad" href={to} title="How they failed, and what the providers said">
    {Format.count(count)}
  </a>
)
