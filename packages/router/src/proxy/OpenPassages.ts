/** How the requests that pass are ended, so that the end of the proxy need not wait for theirs. */
import { InFlightSet } from "@tachograph/core"

/** Ends a request that passes, at once. */
export type Cut = () => void

export class OpenPassages {
  readonly #open = new InFlightSet<Cut>()
  readonly #onNone: Array<() => void> = []
  #isCut = false

  /** Whether no request may pass any more. */
  get isCut(): boolean {
    return this.#isCut
  }

  /** Returns a function to be called when it has ended. */
  add(cut: Cut): () => void {
    const remove = this.#open.add(cut)
    return () => {
      remove()
      if (this.#open.size === 0) for (const resolve of this.#onNone.splice(0)) resolve()
    }
  }

  /** Resolves when nothing passes. */
  none(): Promise<void> {
    return this.#open.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#onNone.push(resolve))
  }

  /** Ends all. */
  cut(): void {
    this.#isCut = true
    for (const cut of this.#open.values()) cut()
  }
}
