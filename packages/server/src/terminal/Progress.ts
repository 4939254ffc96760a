/** Says on standard error how far a command is: a line that is written again on a terminal, otherwise a line now and then. */
import * as Console from "effect/Console"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Writable } from "node:stream"

/** How often, at the latest. A command that ends before says nothing. */
const terminalInterval: Duration.Input = "500 millis"
const logInterval: Duration.Input = "30 seconds"

export interface Progress {
  /** Removes the line from the terminal, before other lines are printed. It comes back. */
  readonly clear: Effect.Effect<void>
}

type Terminal = Writable & { readonly isTTY?: boolean; readonly columns?: number }

const clearLine = "\r\u001b[K"

/** Until the end of the scope. `describe` returns one line of printable text. */
export const make = Effect.fnUntraced(function* (
  describe: () => string,
  terminal: Terminal = process.stderr
): Effect.fn.Return<Progress, never, Scope.Scope> {
  if (terminal.isTTY !== true) {
    const report = Effect.suspend(() => Console.error(describe()))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(logInterval), report)))
    return { clear: Effect.void }
  }
  let isShown = false
  const show = Effect.sync(() => {
    // A longer line would wrap, and could not be cleared.
    terminal.write(clearLine + describe().slice(0, (terminal.columns || 80) - 1))
    isShown = true
  })
  const clear = Effect.sync(() => {
    if (isShown) terminal.write(clearLine)
    isShown = false
  })
  yield* Effect.addFinalizer(() => clear)
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(terminalInterval), show)))
  return { clear }
})
