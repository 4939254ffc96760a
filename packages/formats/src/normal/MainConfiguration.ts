/** Which of its configurations stands for a version of an agent where two versions are compared. */

interface Used {
  /** Calls. */
  readonly events: number
  /** ISO 8601, in UTC. */
  readonly last_used_at: string
}

/** The one with most calls, and of those with as many the one that was used last, by the time of the calls. */
export const mainConfiguration = <Configuration extends Used>(
  configurations: ReadonlyArray<Configuration>
): Configuration | undefined =>
  configurations.toSorted(
    (one, other) => other.events - one.events || Date.parse(other.last_used_at) - Date.parse(one.last_used_at)
  )[0]
