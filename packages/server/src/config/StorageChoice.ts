/** Where a server keeps its data: the one place that knows which storages there are. */
import { type Errors, MemoryStorage, type Storage } from "@tachograph/core"
import { Migrations } from "@tachograph/storage-sql"
import { SqliteClient, SqliteStorage } from "@tachograph/storage-sqlite"
import { fromUrl, type PostgresConfig, PostgresStorage } from "@tachograph/storage-postgres"
import { Effect, Layer, Option, Result } from "effect"
import { Migrator } from "effect/sql"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { CommandError, UsageError } from "../terminal/CliErrors.ts"
import * as Setting from "./Setting.ts"

export interface StorageChoice {
  /** As it is shown to people; never with a password. */
  readonly label: string
  /** Whether what is stored outlives the process. */
  readonly lasting: boolean
  /** Why only one process may serve it; undefined where several may. */
  readonly alone: string | undefined
  /** Whether there is something to open; opening creates what is not there. */
  readonly exists: () => boolean
  /** Opens the storage, and brings its tables up to date. */
  readonly layer: Layer.Layer<Storage, CommandError>
  /** Opens the storage, whose tables must be up to date. */
  readonly layerNoMigrations: Layer.Layer<Storage, CommandError>
  /** Brings the tables up to date and answers what was run. */
  readonly migrate: Effect.Effect<ReadonlyArray<string>, CommandError>
}

/** Migrations as their files are named. */
const names = (ran: ReadonlyArray<readonly [id: number, name: string]>): ReadonlyArray<string> =>
  ran.map(([id, name]) => `${String(id).padStart(4, "0")}_${name}`)

const opening = (label: string, layer: Layer.Layer<Storage, unknown>): Layer.Layer<Storage, CommandError> =>
  Layer.catch(layer, (error) => Layer.effectContext(Effect.fail(openingError(label, error))))

const memory: StorageChoice = {
  label: "memory (gone when the server ends)",
  lasting: false,
  alone: "what is in the memory of one is not known to another",
  exists: () => true,
  layer: MemoryStorage.layer,
  layerNoMigrations: MemoryStorage.layer,
  migrate: Effect.succeed([])
}

const sqlite = (filename: string): StorageChoice => {
  const label = `SQLite, ${filename}`
  return {
    label,
    lasting: true,
    alone: "SQLite has one writer, for which they would only wait",
    exists: () => existsSync(filename),
    layer: opening(label, SqliteStorage.layer({ filename })),
    layerNoMigrations: opening(label, SqliteStorage.layerNoMigrations({ filename })),
    migrate: Migrations.run.pipe(
      Effect.map(names),
      Effect.provide(SqliteClient.layer({ filename })),
      Effect.mapError((error) => openingError(label, error))
    )
  }
}

const postgres = (config: PostgresConfig, url: string): StorageChoice => {
  const { hostname, pathname, port } = new URL(url)
  const label = `Postgres, ${hostname}${port && `:${port}`}${pathname}${config.schema ? `, schema ${config.schema}` : ""}`
  return {
    label,
    lasting: true,
    alone: undefined,
    exists: () => true,
    layer: opening(label, PostgresStorage.layer(config)),
    layerNoMigrations: opening(label, PostgresStorage.layerNoMigrations(config)),
    migrate: PostgresStorage.migrate(config).pipe(
      Effect.map(names),
      Effect.mapError((error) => openingError(label, error))
    )
  }
}

const isPostgres = (text: string): boolean => /^postgres(ql)?:/i.test(text)

export const setting = Setting.make({
  name: "storage",
  metavar: "STORAGE",
  description: "Where events are kept: memory:, sqlite:PATH or postgres://…",
  default: "sqlite:tachograph.db",
  expected: "memory:, sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE",
  complaint: (text) =>
    isPostgres(text) ? Result.getFailure(fromUrl(text)).pipe(Option.getOrUndefined)?.message : undefined,
  // Behind a scheme there may be a password.
  show: (text) => text.replace(/^([a-z+]+:\/\/).*$/i, "$1…"),
  parse: (text) => {
    if (text === "memory:") return Option.some(memory)
    if (isPostgres(text)) {
      return Option.map(Result.getSuccess(fromUrl(text)), (config) => postgres(config, text))
    }
    const path = /^sqlite:(.+)$/.exec(text)?.[1]
    return path === undefined ? Option.none() : Option.some(sqlite(path === ":memory:" ? path : resolve(path)))
  }
})

/** Only whoever issues something may create a storage. */
export type Purpose = "issue" | "look"

/** Runs with a storage that outlives the command, and whose tables are there. */
export const withLasting = Effect.fnUntraced(function* <A, E>(
  given: Option.Option<string>,
  { kept, purpose }: { readonly purpose: Purpose; readonly kept: string },
  use: Effect.Effect<A, E | Errors.StorageUnavailable, Storage>
) {
  const choice = yield* setting.resolve(given)
  if (!choice.lasting) {
    const message = `--storage is "memory:", which keeps no ${kept}: expected the storage of your server`
    return yield* new UsageError({ message })
  }
  if (purpose === "look" && !choice.exists()) {
    return yield* new CommandError({ message: `There is no such storage (${choice.label})` })
  }
  return yield* use.pipe(
    Effect.catchIf(isUnavailable, (error) => Effect.fail(openingError(choice.label, error))),
    // With a role that may not change tables too; where there are none yet, they are made.
    Effect.provide(Layer.catch(choice.layerNoMigrations, () => choice.layer))
  )
})

const isUnavailable = (error: unknown): error is Errors.StorageUnavailable =>
  (error as { readonly _tag?: unknown } | null)?._tag === "storage-unavailable"

/** One line for whatever kept a storage from opening: in our words where we have some, else the first cause's own. */
const openingError = (label: string, error: unknown): CommandError => {
  const chain = causes(error)
  const known = chain.map(explain).find(Option.isSome)
  const outOfDate = chain.find((cause) => cause instanceof Migrator.MigrationError && cause.kind === "BadState")
  const first = outOfDate ?? chain.findLast((cause) => cause instanceof Error && cause.message !== "")
  const reason = known?.value ?? (first instanceof Error ? first.message : String(error))
  return new CommandError({ message: `Cannot open the storage (${label}): ${reason.replaceAll(/\s*\n\s*/g, " ")}` })
}

const causes = (error: unknown): ReadonlyArray<unknown> =>
  typeof error === "object" && error !== null
    ? [error, ...causes("reason" in error ? error.reason : "cause" in error ? error.cause : undefined)]
    : []

/** SQLite's primary result codes, in words that say what to do. */
const explanations: Readonly<Record<number, string>> = {
  3: "no permission to open the file",
  5: "another process holds the file's lock",
  8: "the file or its folder is not writable",
  10: "reading or writing the file failed",
  11: "the file is damaged",
  13: "the disk is full",
  14: "the file cannot be opened or created; its folder must exist and be writable",
  26: "the file is not a SQLite database"
}

const explain = (error: unknown): Option.Option<string> => {
  const code = (error as { readonly errcode?: unknown; readonly errno?: unknown } | null) ?? {}
  const number = typeof code.errcode === "number" ? code.errcode : code.errno
  return Option.fromNullishOr(typeof number === "number" ? explanations[number & 0xff] : undefined)
}
