/** Tells a call that a tap makes from one that the application makes. */
import { builtin } from "../platform/Builtins.ts"

export interface Inside {
  /** True in what a tap calls, until the answer is there: a tap that is called there sees a call that is recorded already. */
  readonly is: () => boolean
  readonly run: <A>(call: () => Promise<A>) => Promise<A>
}

/** Without AsyncLocalStorage, only what is called at once is told, and not what a `fetch` calls after it has waited. */
const untilItReturns = (): Inside => {
  let isInside = false
  return {
    is: () => isInside,
    run: (call) => {
      const wasInside = isInside
      isInside = true
      try {
        return call()
      } finally {
        isInside = wasInside
      }
    }
  }
}

export const make = (): Inside => {
  const AsyncLocalStorage = builtin("async_hooks")?.AsyncLocalStorage
  if (AsyncLocalStorage === undefined) return untilItReturns()
  const storage = new AsyncLocalStorage<{ isOpen: boolean }>()
  return {
    is: () => storage.getStore()?.isOpen === true,
    run: (call) => {
      // What the call has started goes on by itself once it is over, as a timer that a `fetch` sets.
      const mark = { isOpen: true }
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
