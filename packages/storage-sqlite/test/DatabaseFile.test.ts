/** The files of a database: who may read them. */
import { Storage } from "@tachograph/core"
import { Samples } from "@tachograph/testkit"
import { Effect } from "effect"
import { chmodSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, it } from "vitest"
import { sqlite } from "../src/index.ts"
import { temporaryFile } from "./TemporaryFile.ts"

const modeOf = (file: string) => statSync(file).mode & 0o777

const withUmask = (mask: number, body: () => Promise<void>) => {
  const former = process.umask(mask)
  return body().finally(() => process.umask(former))
}

/** Appends an event to a session. */
const append = Effect.fnUntraced(function* (n: number) {
  const storage = yield* Storage
  yield* Samples.append(storage, [Samples.appendEvent(Samples.eventId(n))])
})

const run = <A, E>(file: string, body: Effect.Effect<A, E, Storage>) =>
  Effect.runPromise(Effect.provide(body, sqlite(file)))

describe("Modes", () => {
  it.each([0, 0o022, 0o277, 0o777])("creates the files with mode 0600 with umask %o", (mask) => {
    const file = temporaryFile()
    return withUmask(mask, () =>
      run(
        file,
        Effect.map(append(1), () => {
          for (const suffix of ["", "-wal", "-shm"]) expect([suffix, modeOf(file + suffix)]).toEqual([suffix, 0o600])
        })
      )
    )
  })

  it("creates a file that a symbolic link leads to with mode 0600", () => {
    const file = temporaryFile()
    const target = join(dirname(file), "target.db")
    symlinkSync(target, file)
    return run(
      file,
      Effect.map(append(1), () => {
        for (const suffix of ["", "-wal", "-shm"]) expect([suffix, modeOf(target + suffix)]).toEqual([suffix, 0o600])
      })
    )
  })

  it("leaves the mode of an existing file, which its log also gets", async () => {
    const file = temporaryFile()
    writeFileSync(file, "")
    chmodSync(file, 0o640)
    await run(
      file,
      Effect.map(append(1), () => {
        for (const suffix of ["", "-wal", "-shm"]) expect([suffix, modeOf(file + suffix)]).toEqual([suffix, 0o640])
      })
    )
    chmodSync(file, 0o644)
    await run(file, append(2))
    expect(modeOf(file)).toBe(0o644)
  })
})
