/** What `with` sets for the calls within it, across every `await`. */
import type { Grouping } from "../event/Event.ts"
import { builtin } from "../platform/Builtins.ts"

export interface CallContext extends Grouping {
  /** Keeps a serverless function alive until a promise settles. */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined
}

export const fields: ReadonlySet<string> = new Set(["agent", "agentVersion", "person", "session", "waitUntil"])

/** Fields that are undefined do not replace those around them. */
export const merge = (...contexts: ReadonlyArray<CallContext>): CallContext =>
  Object.assign(
    {},
    ...contexts.map((context) => Object.fromEntries(Object.entries(context).filter(([, value]) => value !== undefined)))
  )

export interface ContextStore {
  /** What surrounds the caller. Empty where the platform has no AsyncLocalStorage. */
  readonly current: () => CallContext
  readonly run: <A>(context: CallContext, run: () => A) => A
  /** Runs a function in the async context in which the store was made, from wherever it is called. */
  readonly apart: <A>(run: () => A) => A
}

const nowhere: ContextStore = { current: () => ({}), run: (_context, run) => run(), apart: (run) => run() }

type Apart = ContextStore["apart"]

/** On Cloudflare's Workers a snapshot belongs to one request, and throws in the others. There the caller's context is what there is. */
const orHere =
  (snapshot: Apart): Apart =>
  (run) => {
    let hasBegun = false
    try {
      return snapshot(() => {
        hasBegun = true
        return run()
      })
    } catch (error) {
      if (hasBegun) throw error
      return run()
    }
  }

export const make = (): ContextStore => {
  const hooks = builtin("async_hooks")
  if (hooks?.AsyncLocalStorage === undefined) return nowhere
  const snapshot = hooks.AsyncLocalStorage.snapshot?.() as Apart | undefined
  const storage = new hooks.AsyncLocalStorage<CallContext>()
  return {
    current: () => storage.getStore() ?? {},
    apart: snapshot === undefined ? nowhere.apart : orHere(snapshot),
    run: (context, run) => storage.run(merge(storage.getStore() ?? {}, context), run)
  }
}
