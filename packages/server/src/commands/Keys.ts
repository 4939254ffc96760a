/** `tachograph keys`: issues, lists and revokes API keys. */
import { type ApiKey, ApiKeys, CurrentActor, type Errors, isSignIn, Name, Scope, TimeSpan } from "@tachograph/core"
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { Argument, Command } from "effect/cli"
import { CommandError } from "../terminal/CliErrors.ts"
import * as Project from "../config/Project.ts"
import * as Setting from "../config/Setting.ts"
import * as StorageSetting from "../config/StorageSetting.ts"
import * as Table from "../terminal/Table.ts"

const project = Project.setting("The project that the key gives access to; created if it does not exist", "default")

const scope = Setting.make({
  name: "scope",
  metavar: "SCOPES",
  description: "What the key may do: record, read, admin, or a comma-separated list of them",
  default: "record",
  expected: "record, read, admin, or a comma-separated list of them",
  parse: (text) => Schema.decodeUnknownOption(Schema.NonEmptyArray(Scope))(Array.from(new Set(text.split(","))))
})

const name = Setting.make({
  name: "name",
  metavar: "LABEL",
  description: "A label that identifies the key in lists",
  default: "unnamed",
  expected: "a name of 1 to 255 characters",
  parse: Schema.decodeUnknownOption(Name)
})

const expires = Setting.make({
  name: "expires",
  metavar: "TIME",
  description: "When the key expires: 30m, 12h, 90d, 4w, or never",
  default: "never",
  expected: "a time such as 30m, 12h, 90d or 4w, or never",
  parse: (text): Option.Option<Duration.Duration | null> =>
    text === "never" ? Option.some(null) : TimeSpan.parse(text)
})

const withKeys = <A>(
  given: Option.Option<string>,
  access: "create" | "update" | "read",
  use: (keys: ApiKeys["Service"]) => Effect.Effect<A, Errors.StorageUnavailable>
) =>
  StorageSetting.withExisting(
    given,
    { access, contents: "keys" },
    Effect.provide(Effect.flatMap(ApiKeys, use), ApiKeys.layer()).pipe(Effect.provideService(CurrentActor, "command"))
  )

const create = Command.make(
  "create",
  {
    storage: StorageSetting.persistentSetting.flag,
    project: project.flag,
    scope: scope.flag,
    name: name.flag,
    expires: expires.flag
  },
  Effect.fnUntraced(function* (flags) {
    const lifetime = yield* expires.resolve(flags.expires)
    const attributes = {
      project: yield* project.resolve(flags.project),
      scopes: yield* scope.resolve(flags.scope),
      name: yield* name.resolve(flags.name),
      expiresAt: lifetime && DateTime.addDuration(yield* DateTime.now, lifetime)
    }
    const [secret, key] = yield* withKeys(flags.storage, "create", (keys) => keys.issue(attributes))
    yield* Console.log(Redacted.value(secret))
    const { label } = yield* StorageSetting.persistentSetting.resolve(flags.storage)
    const where = `project ${Table.printable(key.project)}, in the storage ${label}`
    yield* Console.error(`Issued ${key.id} for ${where}; the key is not shown again`)
  })
).pipe(Command.withDescription("Issue a key and print it; it is not shown again"))

const state = (key: ApiKey, now: DateTime.Utc): string => {
  if (key.revokedAt !== null) return `revoked ${DateTime.formatIso(key.revokedAt)}`
  if (key.expiresAt === null) return "valid"
  const expiresAt = DateTime.formatIso(key.expiresAt)
  return DateTime.isLessThanOrEqualTo(key.expiresAt, now) ? `expired ${expiresAt}` : `valid until ${expiresAt}`
}

/** People sign in every day: what has ended of that says nothing any more, and the audit log has it. */
const isShown = (key: ApiKey, now: DateTime.Utc): boolean => !isSignIn(key) || state(key, now).startsWith("valid")

const list = Command.make(
  "list",
  { storage: StorageSetting.persistentSetting.flag },
  Effect.fnUntraced(function* (flags) {
    const keys = yield* withKeys(flags.storage, "read", (keys) => keys.list)
    const now = yield* DateTime.now
    const shown = keys.filter((key) => isShown(key, now))
    const rows = shown.map((key) => [
      key.id,
      Table.printable(key.project),
      Table.printable(key.name),
      key.scopes.join(","),
      state(key, now)
    ])
    yield* Console.log(Table.format([["ID", "PROJECT", "NAME", "SCOPES", "STATE"], ...rows]))
  })
).pipe(Command.withDescription("List all keys, without their secrets"))

const revoke = Command.make(
  "revoke",
  { storage: StorageSetting.persistentSetting.flag, id: Argument.String("ID") },
  Effect.fnUntraced(function* (flags) {
    const key = yield* withKeys(flags.storage, "update", (keys) => keys.revoke(flags.id))
    if (key === undefined) {
      return yield* new CommandError({
        message: `There is no key ${JSON.stringify(flags.id)}; see tachograph keys list`
      })
    }
    yield* Console.log(`Revoked ${key.id}; every server rejects it within 10 seconds`)
  })
).pipe(Command.withDescription("Revoke a key by its ID"))

export const keys = Command.make("keys").pipe(
  Command.withDescription("Issue, list and revoke API keys"),
  Command.withSubcommands([create, list, revoke])
)
