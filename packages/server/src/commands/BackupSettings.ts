/** The options of `tachograph serve` for backups. */
import { TimeSpan } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Duration from "effect/Duration"
import { resolve as absolute } from "node:path"
import * as FileOf from "../backup/FileOf.ts"
import * as Schedule from "../backup/Schedule.ts"
import * as Setting from "../config/Setting.ts"
import type { StorageChoice } from "../config/StorageChoice.ts"
import { UsageError } from "../terminal/CliErrors.ts"

const folder = Setting.make({
  name: "backup",
  metavar: "DIR",
  description: "An existing folder in which the server makes checked copies of its SQLite file",
  default: "none",
  expected: "a folder, or none",
  parse: (text): Option.Option<string | undefined> => Option.some(text === "none" ? undefined : absolute(text))
})

const every = Setting.make({
  name: "backup-every",
  metavar: "TIME",
  description: "How often it makes one",
  default: "24h",
  expected: "a time such as 30m, 12h, 7d or 4w",
  parse: (text): Option.Option<Duration.Duration> => TimeSpan.parse(text)
})

const keep = Setting.make({
  name: "backup-keep",
  metavar: "COUNT",
  description: "How many of them it keeps; older ones are deleted, and no other files",
  default: "7",
  expected: "a number from 1 to 10000",
  parse: (text) => Option.filter(Option.some(/^\d{1,5}$/.test(text) ? Number(text) : 0), (n) => n >= 1 && n <= 10_000)
})

export const flags = { backup: folder.flag, backupEvery: every.flag, backupKeep: keep.flag }

type Given = { readonly [Name in keyof typeof flags]: Option.Option<string> }

/** What the server backs up, where and when; undefined if it does not. */
export const resolve = Effect.fnUntraced(function* (given: Given, storage: StorageChoice) {
  const options = {
    folder: yield* folder.resolve(given.backup),
    every: yield* every.resolve(given.backupEvery),
    keep: yield* keep.resolve(given.backupKeep)
  }
  if (options.folder === undefined) {
    const unused = every.sourceOf(given.backupEvery) ?? keep.sourceOf(given.backupKeep)
    return unused === undefined ? undefined : yield* new UsageError({ message: `${unused} needs --backup` })
  }
  const file = yield* FileOf.choice(storage, "back up")
  const schedule: Schedule.Options = { ...options, folder: options.folder }
  yield* Schedule.check(schedule)
  return { ...schedule, file }
})
