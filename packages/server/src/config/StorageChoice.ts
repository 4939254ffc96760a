/** The storage that `--storage` selects. Only this module names the storages. */
import { type Errors, MemoryStorage, type Storage } from "@tachograph/core"
import { Migrations } from "@tachograph/storage-sql"
import { SqliteClient, SqliteStorage } from "@tachograph/storage-sqlite"
import { fromUrl, type PostgresConfig, PostgresStorage } from "@tachograph/storage-postgres"
import { Effect, Layer, Option, Redacted, Result } from "effect"
import { Migrator } from "effect/sql"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { CommandError, UsageError } from "../terminal/CliErrors.ts"
import * as Setting from "./Setting.ts"

export interface StorageChoice {
  /** As `--storage` takes it. */
  readonly source: Redacted.Redacted
  /** Shown to users; contains no password. */
  readonly label: string
  /** Whether the data outlives the process. */
  readonly isPersistent: boolean
  /** Why only one process may serve this storage; undefined if several may. */
  readonly singleProcessReason: string | undefined
  /** Whether the storage exists already. Opening creates it if not. */
  readonly exists: () => boolean
  /** Opens the storage and runs its migrations. */
  readonly layer: Layer.Layer<Storage, CommandError>
  /** Opens the storage. Fails if its tables are not up to date. */
  readonly layerNoMigrations: Layer.Layer<Storage, CommandError>
  /** Opens an existing storage, to read. Changes nothing in it. Fails if its tables are not those of this version. */
  readonly layerReadOnly: Layer.Layer<Storage, CommandError>
  /** The same for requests of a server that has it open already. */
  readonly layerReading: Layer.Layer<Storage, CommandError>
  /** Runs the migrations and returns their names. */
  readonly migrate: Effect.Effect<ReadonlyArray<string>, CommandError>
}

/** The file names of migrations. */
const names = (migrations: ReadonlyArray<readonly [id: number, name: string]>): ReadonlyArray<string> =>
  migrations.map(([id, name]) => `${String(id).padStart(4, "0")}_${name}`)

const opening = (label: string, layer: Layer.Layer<Storage, unknown>): Layer.Layer<Storage, CommandError> =>
  Layer.catch(layer, (error) => Layer.effectContext(Effect.fail(failure("open", label, error))))

const memory: StorageChoice = {
  source: Redacted.make("memory:"),
  label: "memory (lost when the server exits)",
  isPersistent: false,
  singleProcessReason: "processes do not share memory",
  exists: () => true,
  layer: MemoryStorage.layer,
  layerNoMigrations: MemoryStorage.layer,
  layerReadOnly: MemoryStorage.layer,
  layerReading: MemoryStorage.layer,
  migrate: Effect.succeed([])
}

const sqlite = (filename: string): StorageChoice => {
  const label = `SQLite, ${filename}`
  return {
    source: Redacted.make(`sqlite:${filename}`),
    label,
    isPersistent: true,
    singleProcessReason: "SQLite allows one writer at a time",
    exists: () => existsSync(filename),
    layer: opening(label, SqliteStorage.layer({ filename })),
    layerNoMigrations: opening(label, SqliteStorage.layerNoMigrations({ filename })),
    layerReadOnly: opening(label, SqliteStorage.layerReadOnly({ filename })),
    layerReading: opening(label, SqliteStorage.layerReadOnly({ filename })),
    migrate: Migrations.run.pipe(
      Effect.map(names),
      Effect.provide(SqliteClient.layer({ filename })),
      Effect.mapError((error) => failure("open", label, error))
    )
  }
}

const postgres = (config: PostgresConfig, url: string): StorageChoice => {
  const { hostname, pathname, port } = new URL(url)
  const label = `Postgres, ${hostname}${port && `:${port}`}${pathname}${config.schema ? `, schema ${config.schema}` : ""}`
  return {
    source: Redacted.make(url),
    label,
    isPersistent: true,
    singleProcessReason: undefined,
    exists: () => true,
    layer: opening(label, PostgresStorage.layer(config)),
    layerNoMigrations: opening(label, PostgresStorage.layerNoMigrations(config)),
    layerReadOnly: opening(label, PostgresStorage.layerReadOnly(config)),
    layerReading: opening(label, PostgresStorage.layerReading(config)),
    migrate: PostgresStorage.migrate(config).pipe(
      Effect.map(names),
      Effect.mapError((error) => failure("open", label, error))
    )
  }
}

const isPostgres = (text: string): boolean => /^postgres(ql)?:/i.test(text)

/** The storage of a `--storage`; none if it is not one. */
export const parse = (text: string): Option.Option<StorageChoice> => {
  if (text === "memory:") return Option.some(memory)
  if (isPostgres(text)) return Option.map(Result.getSuccess(fromUrl(text)), (config) => postgres(config, text))
  const path = /^sqlite:(.+)$/.exec(text)?.[1]
  return path === undefined ? Option.none() : Option.some(sqlite(path === ":memory:" ? path : resolve(path)))
}

const settingOf = (memory: "" | "memory:, ") =>
  Setting.make({
    name: "storage",
    metavar: "STORAGE",
    description: `Where events are stored: ${memory}sqlite:PATH or postgres://…`,
    default: "sqlite:tachograph.db",
    expected: `${memory}sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE`,
    explain: (text) =>
      isPostgres(text) ? Result.getFailure(fromUrl(text)).pipe(Option.getOrUndefined)?.message : undefined,
    // The part after the scheme may contain a password.
    redact: (text) => text.replace(/^([a-z+]+:\/\/).*$/i, "$1…"),
    parse
  })

export const setting = settingOf("memory:, ")

/** For commands that use a storage which outlives its server. */
export const persistentSetting = settingOf("")

interface Purpose {
  /**
   * What the command does with the storage: `create` creates a missing one, and `read` changes nothing. `create` and `update`
   * migrate tables that are not up to date.
   */
  readonly access: "create" | "update" | "read"
  /** What the command reads or writes, for messages. */
  readonly contents: "keys" | "events"
}

/** Runs `use` with a persistent storage. */
export const withExisting = Effect.fnUntraced(function* <A, E>(
  given: Option.Option<string>,
  { access, contents }: Purpose,
  use: Effect.Effect<A, E | Errors.StorageUnavailable, Storage>
) {
  const choice = yield* persistentSetting.resolve(given)
  if (!choice.isPersistent) {
    const message = `--storage is "memory:", which keeps no ${contents}: expected the storage of your server`
    return yield* new UsageError({ message })
  }
  if (access !== "create" && !choice.exists()) {
    return yield* new CommandError({ message: `The storage does not exist (${choice.label})` })
  }
  return yield* use.pipe(
    Effect.catchIf(isUnavailable, (error) => Effect.fail(failure("use", choice.label, error))),
    Effect.provide(
      access === "read"
        ? choice.layerReadOnly
        : // Try without migrations first: the database role may not be allowed to change tables.
          Layer.catch(choice.layerNoMigrations, () => choice.layer)
    )
  )
})

const isUnavailable = (error: unknown): error is Errors.StorageUnavailable =>
  (error as { readonly _tag?: unknown } | null)?._tag === "storage-unavailable"

/** One line that says why a storage cannot be used: an explanation if there is one, else the innermost cause's message. */
const failure = (verb: "open" | "use", label: string, error: unknown): CommandError => {
  const chain = causes(error)
  const explanation = chain.map(explain).find(Option.isSome)
  const outOfDate = chain.find((cause) => cause instanceof Migrator.MigrationError && cause.kind === "BadState")
  const first = outOfDate ?? chain.findLast((cause) => cause instanceof Error && cause.message !== "")
  const reason = explanation?.value ?? (first instanceof Error ? first.message : String(error))
  const message = `Cannot ${verb} the storage (${label}): ${reason.replaceAll(/\s*\n\s*/g, " ")}`
  return new CommandError({ message, isDamage: chain.some((cause) => damaged.has(codeOf(cause) ?? 0)) })
}

/** An error and its chain of causes, outermost first. */
const causes = (error: unknown): ReadonlyArray<unknown> => {
  if (typeof error !== "object" || error === null) return []
  if ("reason" in error) return [error, ...causes(error.reason)]
  return [error, ...causes("cause" in error ? error.cause : undefined)]
}

/** Explanations of SQLite's primary result codes: https://www.sqlite.org/rescode.html */
const explanations: Readonly<Record<number, string>> = {
  3: "no permission to open the file",
  5: "another process holds the file's lock",
  8: "the file or its folder is not writable",
  10: "reading or writing the file failed",
  11: "the file is damaged",
  13: "the disk is full",
  14: "the file cannot be opened or created; its folder must exist and be writable",
  26: "the file is not a SQLite database, or its beginning is damaged"
}

/** Those that a damaged file has. */
const damaged: ReadonlySet<number> = new Set([11, 26])

const codeOf = (error: unknown): number | undefined => {
  const code = (error as { readonly errcode?: unknown; readonly errno?: unknown } | null) ?? {}
  const number = typeof code.errcode === "number" ? code.errcode : code.errno
  return typeof number === "number" ? number & 0xff : undefined
}

const explain = (error: unknown): Option.Option<string> => {
  const code = codeOf(error)
  return Option.fromNullishOr(code === undefined ? undefined : explanations[code])
}
