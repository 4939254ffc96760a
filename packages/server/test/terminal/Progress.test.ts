import { Console, Effect } from "effect"
import { TestClock } from "effect/testing"
import { PassThrough } from "node:stream"
import { expect, it } from "vitest"
import * as Progress from "../../src/terminal/Progress.ts"
import * as TransferProgress from "../../src/terminal/TransferProgress.ts"

/** Reports progress for a time, and returns what the terminal and standard error got at each step. */
const shown = (
  isTTY: boolean,
  use: (progress: Progress.Progress, clock: typeof TestClock.adjust) => Effect.Effect<void>
) =>
  Effect.gen(function* () {
    const terminal = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY, columns: 20 })
    const lines: Array<string> = []
    const console = Object.assign(Object.create(globalThis.console) as Console.Console, {
      error: (line: string) => void lines.push(line)
    })
    let count = 0
    const progress = Progress.make(() => `Step ${++count} of very many steps`, terminal)
    yield* Effect.scoped(Effect.flatMap(progress, (made) => use(made, TestClock.adjust))).pipe(
      Effect.provideService(Console.Console, console)
    )
    return { lines, written: terminal.read() as string | null }
  }).pipe(Effect.provide(TestClock.layer()), Effect.runPromise)

it("writes one line again on a terminal, not wider than it, and removes it", async () => {
  const { lines, written } = await shown(true, (progress, adjust) =>
    Effect.gen(function* () {
      yield* adjust("400 millis")
      yield* progress.clear
      yield* adjust("600 millis")
      yield* progress.clear
    })
  )
  expect(lines).toEqual([])
  const clear = "\r\u001b[K"
  expect(written).toBe(`${clear}Step 1 of very many${clear}Step 2 of very many${clear}`)
})

it("prints a line every half minute elsewhere, and none before", async () => {
  const early = await shown(false, (_, adjust) => adjust("29 seconds"))
  expect(early).toEqual({ lines: [], written: null })
  const late = await shown(false, (progress, adjust) => Effect.andThen(adjust("61 seconds"), progress.clear))
  expect(late).toEqual({ lines: ["Step 1 of very many steps", "Step 2 of very many steps"], written: null })
})

it("says how fast a small transfer is in whole bytes", () => {
  expect(TransferProgress.text({ events: 2, bytes: 1750, part: 1 }, 3000)).toBe("2 events, 1.7 KiB, 583 B/s")
})
