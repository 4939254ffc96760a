/**
 * The storage that `--storage` selects. Only this module names the storages. Each is loaded when it is opened, on the thread that
 * opens it: the other threads, and servers with another storage, need no memory for it.
 */
import { MemoryStorage, type Storage } from "@tachograph/core"
import type { PostgresConfig } from "@tachograph/storage-postgres"
import { fromUrl, label as labelOf } from "@tachograph/storage-postgres/PostgresUrl"
import type { Inspection } from "@tachograph/storage-sql"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Migrator from "effect/sql/Migrator"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { CommandError } from "../terminal/CliErrors.ts"

export interface StorageChoice {
  /** As `--storage` takes it. */
  readonly source: Redacted.Redacted
  /** Shown to users; contains no password. */
  readonly label: string
  /** The file of SQLite; undefined for other storages. */
  readonly file: string | undefined
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
  /** Opens an existing storage, to read. Changes nothing in it. Fails if its tables are not up to date. */
  readonly layerReadOnly: Layer.Layer<Storage, CommandError>
  /** The same for requests of a server that has it open already. */
  readonly layerReading: Layer.Layer<Storage, CommandError>
  /** Names of the migrations that `migrate` would run. Changes and creates nothing. */
  readonly pending: Effect.Effect<ReadonlyArray<string>, CommandError>
  /** Runs the migrations and returns their names. */
  readonly migrate: Effect.Effect<ReadonlyArray<string>, CommandError>
  /**
   * Runs the migrations and distributes the tables over the nodes of a cluster, once. Changes nothing if they cannot be distributed;
   * undefined if this kind of storage has no cluster.
   */
  readonly distribute: Effect.Effect<Distributed, CommandError> | undefined
  /** What the database says of itself; undefined for memory. Changes nothing. */
  readonly inspect: Inspect | undefined
}

/** What there is to look at, of a file or of a database. */
export type Inspect =
  | { readonly filename: string; readonly facts: Effect.Effect<Inspection.OfSqlite, CommandError> }
  | {
      readonly filename: undefined
      /** `needed`: connections that one process opens which serves. */
      readonly facts: Effect.Effect<Inspection.OfPostgres & { readonly needed: number }, CommandError>
    }

interface Distributed {
  /** Names of the migrations that ran. */
  readonly migrations: ReadonlyArray<string>
  readonly shards: number
  /** Whether they were not distributed before. */
  readonly isNew: boolean
}

export const sqlitePackage = Effect.promise(() => import("@tachograph/storage-sqlite"))
const postgresPackage = Effect.promise(() => import("@tachograph/storage-postgres"))
export const sqlPackage = Effect.promise(() => import("@tachograph/storage-sql"))

/** Layers of one storage, and what is asked of it. */
const openingOf = <A>(label: string, load: Effect.Effect<A>) => ({
  opening: (open: (loaded: A) => Layer.Layer<Storage, unknown>): Layer.Layer<Storage, CommandError> =>
    Layer.catch(Layer.unwrap(Effect.map(load, open)), (error) =>
      Layer.effectContext(Effect.fail(failure("open", label, error)))
    ),
  asking: <B>(ask: (loaded: A) => Effect.Effect<B, unknown>, verb: Verb = "open"): Effect.Effect<B, CommandError> =>
    Effect.mapError(Effect.flatMap(load, ask), (error) => failure(verb, label, error))
})

const memory: StorageChoice = {
  source: Redacted.make("memory:"),
  label: "memory (lost when the server exits)",
  file: undefined,
  isPersistent: false,
  singleProcessReason: "processes do not share memory",
  exists: () => true,
  layer: MemoryStorage.layer,
  layerNoMigrations: MemoryStorage.layer,
  layerReadOnly: MemoryStorage.layer,
  layerReading: MemoryStorage.layer,
  pending: Effect.succeed([]),
  migrate: Effect.succeed([]),
  distribute: undefined,
  inspect: undefined
}

const sqlite = (filename: string): StorageChoice => {
  const label = `SQLite, ${filename}`
  const { asking, opening } = openingOf(label, sqlitePackage)
  return {
    source: Redacted.make(`sqlite:${filename}`),
    label,
    file: filename === ":memory:" ? undefined : filename,
    isPersistent: true,
    singleProcessReason: "SQLite allows one writer at a time",
    exists: () => existsSync(filename),
    layer: opening(({ SqliteStorage }) => SqliteStorage.layer({ filename })),
    layerNoMigrations: opening(({ SqliteStorage }) => SqliteStorage.layerNoMigrations({ filename })),
    layerReadOnly: opening(({ SqliteStorage }) => SqliteStorage.layerReadOnly({ filename })),
    layerReading: opening(({ SqliteStorage }) => SqliteStorage.layerReadOnly({ filename })),
    pending: Effect.suspend(() =>
      existsSync(filename)
        ? asking(({ SqliteStorage }) => SqliteStorage.pending({ filename }))
        : Effect.map(sqlPackage, ({ Migrations }) => Migrations.names)
    ),
    migrate: asking(({ SqliteStorage }) => SqliteStorage.migrate({ filename })),
    distribute: undefined,
    inspect: {
      filename,
      facts: asking(({ SqliteClient }) =>
        Effect.flatMap(sqlPackage, ({ Inspection }) =>
          Effect.provide(Inspection.ofSqlite, SqliteClient.layer({ filename, readOnly: true }))
        )
      )
    }
  }
}

const postgres = (config: PostgresConfig, url: string): StorageChoice => {
  const label = `Postgres, ${labelOf(url)}${config.schema ? `, schema ${config.schema}` : ""}`
  const { asking, opening } = openingOf(label, postgresPackage)
  return {
    source: Redacted.make(url),
    label,
    file: undefined,
    isPersistent: true,
    singleProcessReason: undefined,
    exists: () => true,
    layer: opening(({ PostgresStorage }) => PostgresStorage.layer(config)),
    layerNoMigrations: opening(({ PostgresStorage }) => PostgresStorage.layerNoMigrations(config)),
    layerReadOnly: opening(({ PostgresStorage }) => PostgresStorage.layerReadOnly(config)),
    layerReading: opening(({ PostgresStorage }) => PostgresStorage.layerReading(config)),
    pending: asking(({ PostgresStorage }) => PostgresStorage.pending(config)),
    migrate: asking(({ PostgresStorage }) => PostgresStorage.migrate(config)),
    distribute: Effect.map(
      asking(({ PostgresStorage }) => PostgresStorage.distribute(config), "distribute"),
      ({ isNew, migrated, shards }) => ({ migrations: migrated, shards, isNew })
    ),
    inspect: {
      filename: undefined,
      facts: asking(({ PostgresStorage }) =>
        Effect.flatMap(sqlPackage, ({ Inspection }) => Inspection.ofPostgres).pipe(
          Effect.map((facts) => ({ ...facts, needed: PostgresStorage.connectionsOf(config) })),
          Effect.provide(PostgresStorage.client({ ...config, maxConnections: 1 }))
        )
      )
    }
  }
}

export const isPostgres = (text: string): boolean => /^postgres(ql)?:/i.test(text)

/** The storage of a `--storage`; none if it is not one. */
export const parse = (text: string): Option.Option<StorageChoice> => {
  if (text === "memory:") return Option.some(memory)
  if (isPostgres(text)) return Option.map(Result.getSuccess(fromUrl(text)), (config) => postgres(config, text))
  const path = /^sqlite:(.+)$/.exec(text)?.[1]
  return path === undefined ? Option.none() : Option.some(sqlite(path === ":memory:" ? path : resolve(path)))
}

type Verb = "back up" | "distribute" | "open" | "restore" | "use"

/** One line that says why a storage cannot be used: an explanation if there is one, else the innermost cause's message. */
export const failure = (verb: Verb, label: string, error: unknown): CommandError => {
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
