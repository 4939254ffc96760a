/** Parts of events that are not complete yet, in a file. */
import { defaultProject, SessionId, Storage, type WaitingPart, type WaitingPlace } from "@tachograph/core"
import { Samples, StorageSuite } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { expect, it } from "vitest"
import { bundle } from "../../../scripts/vitest/Program.ts"
import { sqlite, SqliteClient } from "../src/index.ts"
import { foundIn, scrubbed } from "./RawFiles.ts"
import { temporaryFile } from "./TemporaryFile.ts"

const program = await bundle("sqlite-holdParts", new URL("fixtures/holdParts.ts", import.meta.url))

/** The lines that the program prints before it is killed, somewhere in its work. */
const killed = async (file: string, name: string) => {
  const child = spawn(process.execPath, [program.file, file, name], { stdio: ["ignore", "pipe", "inherit"] })
  const lines: Array<string> = []
  for await (const line of createInterface(child.stdout)) {
    lines.push(line)
    if (lines.length === 200) child.kill("SIGKILL")
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
  expect(child.signalCode).toBe("SIGKILL")
  return lines
}

it("has all that was held before two processes were killed, and nothing that was ended", async () => {
  const file = temporaryFile()
  const lines = (await Promise.all(["one", "two"].map((name) => killed(file, name)))).flat()
  const parts = await Effect.runPromise(
    Effect.gen(function* () {
      const storage = yield* Storage
      const found: Array<string> = []
      let after: WaitingPlace | undefined
      do {
        const page = yield* storage.readWaiting(defaultProject, "shared", after, 2 ** 30)
        found.push(...page.rows.map(({ part }) => part))
        after = page.next
      } while (after !== undefined)
      return new Set(found)
    }).pipe(Effect.provide(sqlite(file)))
  )
  const ended = lines.filter((line) => line.startsWith("-")).map((line) => line.slice(1))
  const held = new Set(lines.filter((line) => line.startsWith("+")).map((line) => line.slice(1)))
  for (const part of ended) held.delete(part)
  // What each was doing when it was killed may be done.
  const undone = Array.from(held).filter((part) => !parts.has(part))
  expect(undone.filter((part) => Number(part.split(" ")[1]) % 3 !== 2)).toEqual([])
  expect(undone.length).toBeLessThanOrEqual(2)
  expect(ended.filter((part) => parts.has(part))).toEqual([])
  expect(parts.size).toBeLessThanOrEqual(held.size + 2)
})

it("leaves nothing of what was ended in any file, once something was erased", async () => {
  const file = temporaryFile()
  const words = Array.from({ length: 60 }, (_, n) => `planted ${n} ${StorageSuite.Calls.noise(n, 20)}`)
  const partOf = (word: string, n: number, times: number): WaitingPart => {
    const content = Buffer.from(word.repeat(1 + ((n * 37 * times) % 400)))
    return { ...{ group: `group ${n % 7}`, part: word, since: n, due: n }, size: times * 100_000, content }
  }
  const hold = (times: number) =>
    Effect.flatMap(Storage, (storage) =>
      Effect.forEach(words, (word, n) => storage.hold(defaultProject, [partOf(word, n, times)]))
    )
  await Effect.runPromise(
    Effect.gen(function* () {
      const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
      for (const times of [1, 2, 3]) yield* hold(times)
      yield* sql`PRAGMA wal_checkpoint(TRUNCATE)`
      expect(foundIn(file, words).length).toBe(60)
      for (const step of [3, 2, 1]) {
        for (const [n, word] of words.entries()) {
          if (n % step === 0) yield* storage.endWaiting(defaultProject, `group ${n % 7}`, [partOf(word, n, 3)])
        }
      }
      expect(yield* storage.countWaiting).toBe(0)
      // In the log, at least.
      expect(foundIn(file, words)).not.toEqual([])
      const session = SessionId.make("erased")
      yield* Samples.append(storage, [Samples.appendEvent(Samples.eventId(1), { session })])
      yield* storage.eraseEvents(defaultProject, { session }, 9)
      yield* scrubbed
      expect(foundIn(file, words)).toEqual([])
    }).pipe(Effect.provide(Layer.merge(sqlite(file), SqliteClient.layer({ filename: file }))))
  )
})
