/** A database file whose content is changed past SQLite while it is open, or that is copied over beside an old log. */
import { Storage } from "@tachograph/core"
import { Samples } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { basename, dirname } from "node:path"
import { backup, DatabaseSync } from "node:sqlite"
import { describe, expect, it } from "vitest"
import { afterFile } from "../../../scripts/vitest/AfterFile.ts"
import { SqliteStorage } from "../src/index.ts"
import { temporaryFile } from "./TemporaryFile.ts"

/** The session repeats, so that what several transactions add has the same size. */
const append = (n: number) =>
  Effect.flatMap(Storage, (storage) => Samples.append(storage, [Samples.appendEvent(Samples.eventId(n))]))

const appendAll = (from: number, to: number) =>
  Effect.forEach(
    Array.from({ length: to - from }, (_, n) => from + n),
    append
  )

const count = Effect.flatMap(Storage, (storage) =>
  Effect.map(storage.listEvents(Samples.project, { order: "asc", limit: 1_000 }), (events) => events.length)
)

const run = <A, E>(file: string, body: Effect.Effect<A, E, Storage>) =>
  Effect.runPromise(Effect.provide(body, Layer.fresh(SqliteStorage.layer({ filename: file }))))

const reading = <A, E>(file: string, body: Effect.Effect<A, E, Storage>) =>
  Effect.runPromise(Effect.provide(body, Layer.fresh(SqliteStorage.layerReadOnly({ filename: file }))))

const tagOf = <E extends { readonly _tag: string }, R>(effect: Effect.Effect<unknown, E, R>) =>
  Effect.map(Effect.result(effect), (result) => (result._tag === "Failure" ? result.failure._tag : "succeeded"))

const messageOf = (error: unknown): string => {
  const { cause, message } = error as { readonly cause?: unknown; readonly message: string }
  return cause === undefined ? message : messageOf(cause)
}

/** As `cp` does: into the same file. */
const copyOver = (from: string, file: string) => writeFileSync(file, readFileSync(from))

const checkpoint = (file: string) => {
  const other = new DatabaseSync(file)
  other.exec("PRAGMA wal_checkpoint(PASSIVE)")
  other.close()
}

const backedUp = async (file: string) => {
  const source = new DatabaseSync(file, { readOnly: true })
  await backup(source, `${file}.backup`)
  source.close()
  return `${file}.backup`
}

const savedLogs = (file: string) =>
  readdirSync(dirname(file)).filter((name) => name.startsWith(`${basename(file)}-wal-saved-`))

/** What is done to the file, with a copy of an earlier state beside it. */
const changes: ReadonlyArray<readonly [title: string, change: (file: string, copy: string) => void]> = [
  ["copied over", (file, copy) => copyOver(copy, file)],
  [
    "copied over, with the same size",
    (file, copy) => {
      const { size } = statSync(file)
      copyOver(copy, file)
      truncateSync(file, size)
    }
  ],
  ["truncated", (file) => truncateSync(file, 0)],
  ["cut", (file) => truncateSync(file, statSync(file).size - 4_096)],
  ["grown", (file) => appendFileSync(file, Buffer.alloc(400 * 4_096))],
  ["given a foreign log", (file) => writeFileSync(`${file}-wal`, readFileSync(`${file}.other-wal`))]
]

describe("A database file that was changed while it was open", () => {
  it.each(changes)("acknowledges and reads nothing when it was %s, and is left alone", async (_, change) => {
    const file = temporaryFile()
    await run(file, appendAll(1, 3))
    copyFileSync(file, `${file}.copy`)
    // The log of a server that was killed.
    const other = `${file}.other`
    await run(
      other,
      Effect.andThen(
        append(1),
        Effect.sync(() => copyFileSync(`${other}-wal`, `${other}-wal.kept`))
      )
    )
    copyFileSync(`${other}-wal.kept`, `${other}-wal`)
    let changed: Buffer | undefined
    await run(
      file,
      Effect.gen(function* () {
        const storage = yield* Storage
        yield* appendAll(3, 6)
        yield* Effect.sync(() => checkpoint(file))
        yield* append(6)
        yield* Effect.sync(() => {
          change(file, `${file}.copy`)
          changed = readFileSync(file)
        })
        expect(yield* tagOf(append(7))).toBe("storage-unavailable")
        expect(yield* tagOf(storage.ping)).toBe("storage-unavailable")
        expect(yield* tagOf(count)).toBe("storage-unavailable")
        const lease = storage.takeLease("l", "a", Samples.appendEvent(Samples.eventId(1)).summary.receivedAt)
        expect(yield* tagOf(lease)).toBe("storage-unavailable")
        const error = yield* Effect.flip(append(8))
        expect(messageOf(error)).toContain(`${file} was changed by another program while it was open`)
        expect(messageOf(error)).toContain(savedLogs(file)[0])
      })
    )
    expect(readFileSync(file).equals(changed!)).toBe(true)
    expect(savedLogs(file)).toHaveLength(1)
    expect(existsSync(`${file}-wal`)).toBe(false)
  })

  it("is left alone when it was copied over while nothing was recorded, and the server stops", async () => {
    const file = temporaryFile()
    await run(file, append(1))
    copyFileSync(file, `${file}.copy`)
    await run(
      file,
      Effect.all([
        append(2),
        Effect.sync(() => {
          checkpoint(file)
          copyFileSync(file, `${file}.snapshot`)
        }),
        append(3),
        Effect.sync(() => copyOver(`${file}.copy`, file))
      ])
    )
    expect(readFileSync(file).equals(readFileSync(`${file}.copy`))).toBe(true)
    expect(savedLogs(file)).toHaveLength(1)
    expect(await run(file, count)).toBe(1)
    // The saved log has the rest, for a copy of the file as it was.
    copyFileSync(`${dirname(file)}/${savedLogs(file)[0]}`, `${file}.snapshot-wal`)
    expect(await run(`${file}.snapshot`, count)).toBe(3)
  })

  it("loses nothing that was acknowledged after the copy, whenever that comes", async () => {
    for (let copied = 2; copied < 7; copied++) {
      const file = temporaryFile()
      await run(file, append(1))
      copyFileSync(file, `${file}.copy`)
      const acknowledged = await run(
        file,
        Effect.gen(function* () {
          const tags: Array<string> = []
          for (let n = 2; n < 8; n++) {
            if (n === copied) copyOver(`${file}.copy`, file)
            tags.push(yield* tagOf(append(n)))
            if (n === 4) checkpoint(file)
          }
          return tags
        })
      )
      // Before the first checkpoint the copy is what the log goes on from: nothing was changed.
      const isSame = copied <= 4
      expect(acknowledged.filter((tag) => tag === "succeeded")).toHaveLength(isSame ? 6 : copied - 2)
      expect(await run(file, count)).toBe(isSame ? 7 : 1)
    }
  })

  it("is noticed when an earlier copy of the file and of its log is put over both", async () => {
    const file = temporaryFile()
    await run(file, append(1))
    await run(
      file,
      Effect.gen(function* () {
        yield* appendAll(2, 8)
        for (const name of [file, `${file}-wal`]) copyFileSync(name, `${name}.copy`)
        checkpoint(file)
        yield* append(8)
        for (const name of [file, `${file}-wal`]) copyOver(`${name}.copy`, name)
        expect(yield* tagOf(append(9))).toBe("storage-unavailable")
      })
    )
  })

  it("is noticed by a connection that only reads", async () => {
    const file = temporaryFile()
    await run(file, append(1))
    copyFileSync(file, `${file}.copy`)
    await run(
      file,
      Effect.gen(function* () {
        yield* append(2)
        yield* Effect.promise(() =>
          reading(
            file,
            Effect.gen(function* () {
              expect(yield* count).toBe(2)
              checkpoint(file)
              expect(yield* count).toBe(2)
              copyOver(`${file}.copy`, file)
              expect(yield* tagOf(count)).toBe("storage-unavailable")
            })
          )
        )
        expect(yield* tagOf(count)).toBe("storage-unavailable")
      })
    )
  })
})

describe("A file that others change as SQLite does", () => {
  it("takes the transactions and checkpoints of another process, and of a backup", async () => {
    const file = temporaryFile()
    await run(
      file,
      Effect.gen(function* () {
        yield* append(1)
        yield* Effect.promise(() =>
          run(
            file,
            Effect.gen(function* () {
              for (let n = 2; n < 8; n++) {
                yield* append(n)
                yield* Effect.sync(() => checkpoint(file))
              }
              yield* Effect.promise(() => backedUp(file))
            })
          )
        )
        const shell = new DatabaseSync(file)
        shell.exec("CREATE TABLE of_the_shell (n); DROP TABLE of_the_shell; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
        expect(yield* count).toBe(7)
        shell.exec("PRAGMA wal_checkpoint(TRUNCATE)")
        shell.close()
        yield* append(8)
        yield* (yield* Storage).ping
      })
    )
    expect(await run(file, count)).toBe(8)
    expect(savedLogs(file)).toEqual([])
  })
})

it("takes a log in which frames of a transaction are that was rolled back", async () => {
  const file = temporaryFile()
  await run(
    file,
    Effect.gen(function* () {
      yield* append(1)
      const shell = new DatabaseSync(file)
      // Writes pages to the log before it is rolled back, also the first one.
      shell.exec(
        "PRAGMA cache_size = 10; BEGIN; CREATE TABLE t (a); INSERT INTO t SELECT randomblob(4000) FROM json_each(json_array(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30)); ROLLBACK; PRAGMA wal_checkpoint(PASSIVE)"
      )
      shell.close()
      yield* append(2)
      expect(yield* count).toBe(2)
    })
  )
  expect(savedLogs(file)).toEqual([])
})

describe("A log that was left by a process that was killed", () => {
  const killed = async (file: string) => {
    await run(file, append(1))
    copyFileSync(file, `${file}.copy`)
    await run(
      file,
      Effect.gen(function* () {
        yield* appendAll(2, 4)
        checkpoint(file)
        yield* appendAll(4, 6)
        checkpoint(file)
        yield* append(6)
        copyFileSync(file, `${file}.killed`)
        copyFileSync(`${file}-wal`, `${file}.killed-wal`)
      })
    )
    return `${file}.killed`
  }

  it("is read with its own file", async () => {
    const file = await killed(temporaryFile())
    expect(await reading(file, count)).toBe(6)
    expect(await run(file, count)).toBe(6)
  })

  it.each([
    ["an earlier copy", (file: string) => copyOver(file.replace(".killed", ".copy"), file)],
    ["nothing", (file: string) => truncateSync(file, 0)]
  ])("is refused beside %s, and changes nothing", async (_, change) => {
    const file = await killed(temporaryFile())
    change(file)
    const former = [readFileSync(file), readFileSync(`${file}-wal`)]
    for (const opened of [run(file, count), reading(file, count)]) {
      const error = await opened.then(
        () => undefined,
        (failure: unknown) => failure
      )
      expect(messageOf(error)).toContain(`${file}-wal does not belong to ${file}`)
    }
    expect([readFileSync(file), readFileSync(`${file}-wal`)]).toEqual(former)
  })
})

describe("A folder in which nothing can be written", () => {
  const readOnlyCopy = async (names: ReadonlyArray<string>) => {
    const file = temporaryFile()
    const folder = `${dirname(file)}/medium`
    mkdirSync(folder)
    await run(
      file,
      Effect.andThen(
        append(1),
        Effect.sync(() => {
          checkpoint(file)
          for (const name of names) copyFileSync(`${file}${name}`, `${folder}/test.db${name}`)
        })
      )
    )
    if (process.getuid?.() === 0) {
      execFileSync("/bin/mount", ["--bind", folder, folder])
      afterFile(() => execFileSync("/bin/umount", ["-l", folder]))
      execFileSync("/bin/mount", ["-o", "remount,ro,bind", folder])
    } else chmodSync(folder, 0o555)
    return `${folder}/test.db`
  }

  it("is read where there is no log", async () => {
    const file = await readOnlyCopy([""])
    expect(await reading(file, count)).toBe(1)
    expect(readdirSync(dirname(file))).toEqual(["test.db"])
  })

  it("is refused where there is one", async () => {
    const file = await readOnlyCopy(["", "-wal"])
    const error: unknown = await reading(file, count).catch((failure: unknown) => failure)
    expect(messageOf(error)).toContain(`Copy ${file} and ${file}-wal to a folder that can be written`)
  })
})
