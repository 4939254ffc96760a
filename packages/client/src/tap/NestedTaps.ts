/** Tells a call that a tap makes from one that the application makes. */
import { builtin } from "../platform/Builtins.ts"

/** A call that a tap makes. */
interface Passage {
  /** The `fetch` below the tap. */
  readonly below: unknown
  /** Whether the tap records it. */
  readonly isRecorded: boolean
}

export interface NestedTaps {
  /** What a tap calls, until its answer is there. */
  readonly current: () => Passage | undefined
  readonly run: <A>(passage: Passage, call: () => Promise<A>) => Promise<A>
}

/** Without AsyncLocalStorage, only what is called at once is told, and not what a `fetch` calls after it has waited. */
const untilItReturns = (): NestedTaps => {
  let current: Passage | undefined
  return {
    current: () => current,
    run: (passage, call) => {
      const before = current
      current = passage
      try {
        return call()
      } finally {
        current = before
      }
    }
  }
}

const make = (): NestedTaps => {
  const AsyncLocalStorage = builtin("async_hooks")?.AsyncLocalStorage
  if (AsyncLocalStorage === undefined) return untilItReturns()
  const storage = new AsyncLocalStorage<{ readonly passage: Passage; isOpen: boolean }>()
  return {
    current: () => {
      const mark = storage.getStore()
      return mark?.isOpen === true ? mark.passage : undefined
    },
    run: (passage, call) => {
      // What the call has started goes on by itself once it is over, as a timer that a `fetch` sets.
      const mark = { passage, isOpen: true }
      const close = () => void (mark.isOpen = false)
      let answer: ReturnType<typeof call>
      try {
        answer = storage.run(mark, call)
      } catch (error) {
        close()
        throw error
      }
      Promise.resolve(answer).then(close, close)
      return answer
    }
  }
}

const place = Symbol.for("tachograph.inside")

interface Host {
  [place]?: NestedTaps
}

/** That of all copies of this module, which may tap one another. */
export const shared = (): NestedTaps => {
  const host = globalThis as Host
  const known = host[place]
  if (known !== undefined) return known
  const made = make()
  try {
    Object.defineProperty(host, place, { value: made })
  } catch {
    // The platform has frozen it.
  }
  return made
}
