/** The option `--storage`, and what commands do with the storage that it names. */
import type { Errors, Storage } from "@tachograph/core"
import { fromUrl } from "@tachograph/storage-postgres/PostgresUrl"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { CommandError, UsageError } from "../terminal/CliErrors.ts"
import * as Setting from "./Setting.ts"
import * as StorageChoice from "./StorageChoice.ts"

const settingOf = (memory: "" | "memory:, ") =>
  Setting.make({
    name: "storage",
    metavar: "STORAGE",
    description: `Where events are stored: ${memory}sqlite:PATH or postgres://…`,
    default: "sqlite:tachograph.db",
    expected: `${memory}sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE`,
    explain: (text) =>
      StorageChoice.isPostgres(text)
        ? Result.getFailure(fromUrl(text)).pipe(Option.getOrUndefined)?.message
        : undefined,
    // The part after the scheme may contain a password.
    redact: (text) => text.replace(/^([a-z+]+:\/\/).*$/i, "$1…"),
    parse: StorageChoice.parse
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
  if (
    access === "create" &&
    contents === "keys" &&
    persistentSetting.sourceOf(given) === undefined &&
    !choice.exists()
  ) {
    const message =
      `There is no database here (${choice.label}), where a server that was started in this folder would have it. ` +
      "Name the storage of your server by --storage or TACHOGRAPH_STORAGE; one that you name is created if it does not exist"
    return yield* new CommandError({ message })
  }
  if (access !== "create" && !choice.exists()) {
    return yield* new CommandError({ message: `The storage does not exist (${choice.label})` })
  }
  return yield* use.pipe(
    Effect.catchIf(isUnavailable, (error) => Effect.fail(StorageChoice.failure("use", choice.label, error))),
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
