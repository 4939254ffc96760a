/** What an export has written of what events name. Bounded: it may forget, and then something is written again, which does no harm. */

/** Names that are remembered. */
const maxNames = 50_000

export class NamesSeen {
  readonly #keys = new Set<string>()

  /** Whether it is the first time, as far as it knows. */
  add(...name: ReadonlyArray<string>): boolean {
    const key = JSON.stringify(name)
    if (this.#keys.has(key)) return false
    if (this.#keys.size >= maxNames) this.#keys.clear()
    this.#keys.add(key)
    return true
  }
}
