/** How many calls failed, as a link to how they did, wherever that is said. */
import * as Format from "../text/Format.ts"

interface Props {
  readonly count: number
  /** The place of these failures. */
  readonly to: string
  /** Whether it says what they did, where no title does. */
  readonly isNamed?: boolean
}

export const FailedCount = ({ count, isNamed = false, to }: Props) => (
  <a class="bad" href={to} title="How they failed, and what the providers said">
    {Format.count(count)}
    {isNamed && " failed"}
  </a>
)
