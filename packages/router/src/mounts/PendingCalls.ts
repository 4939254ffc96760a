import { InFlightSet } from "@tachograph/core"
import * as Context from "effect/Context"

/** How long closing waits for calls in flight (ms). */
export const CloseGraceMs = Context.Reference<number>("tachograph/router/CloseGraceMs", { defaultValue: () => 10_000 })

/** Counts the calls in flight, so that closing can wait for them. */
export class PendingCalls {
  readonly #calls = new InFlightSet<Promise<unknown>>()

  add<A>(start: () => Promise<A>): Promise<A> {
    const call = start()
    const remove = this.#calls.add(call)
    call.then(remove, remove)
    return call
  }

  /** Resolves when no call is in flight, or after `graceMs`. */
  async end(graceMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise((resolve) => (timer = setTimeout(resolve, graceMs)))
    await Promise.race([Promise.allSettled(this.#calls.values()), timeout])
    clearTimeout(timer)
  }
}
