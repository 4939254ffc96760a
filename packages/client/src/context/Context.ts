/** What `with` sets for the calls within it, across every `await`. */
import type { Details } from "../event/Details.ts"
import type { Grouping } from "../event/Event.ts"
import { builtin } from "../platform/Builtins.ts"

export interface CallContext extends Grouping, Details {
  /** Keeps a serverless function alive until a promise settles. */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined
}

const names = [
  ...(["agent", "agentVersion", "metadata", "person", "session", "spanId", "traceId"] as const),
  "waitUntil"
] as const satisfies ReadonlyArray<keyof CallContext>

export const fields: ReadonlySet<string> = new Set(names)

/** Fields that are undefined do not replace those around them. Others than these are left out. */
export const merge = (...contexts: ReadonlyArray<CallContext>): CallContext => {
  const merged: Record<string, unknown> = {}
  for (const context of contexts) {
    for (const name of names) if (context[name] !== undefined) merged[name] = context[name]
  }
  return merged
}

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
