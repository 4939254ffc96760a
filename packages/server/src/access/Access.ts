/**
 * What commands read and write: the interface, asked of an engine in this process over `--storage`, or of the server at
 * `--url` with the key of `TACHOGRAPH_API_KEY`. A command is written once.
 */
import { type Api, ApiError, createApi, type Method, type Operations } from "@tachograph/client/api"
import {
  CurrentActor,
  defaultProject,
  DeriveInBackground,
  Prices,
  type ProjectId,
  Recorder,
  type Scope as KeyScope
} from "@tachograph/core"
import { Authorizer, Front, InProcess, LocalEngine } from "@tachograph/router"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Logging from "../config/Logging.ts"
import * as Project from "../config/Project.ts"
import * as StorageSetting from "../config/StorageSetting.ts"
import { CommandError, UsageError } from "../terminal/CliErrors.ts"
import * as Refusal from "./Refusal.ts"
import * as UrlSetting from "./UrlSetting.ts"

type Name = keyof Operations

/** Operations that answer a page of rows. */
type Paged = { [Each in Name]: Operations[Each] extends { readonly row: unknown } ? Each : never }[Name]

/** Rows of a page at most. */
export const maxPage = 1_000

/** Each fails where the answer is an error. */
export interface Access {
  readonly read: <Of extends Name>(
    name: Of,
    input: Operations[Of]["input"]
  ) => Effect.Effect<Operations[Of]["answer"], CommandError>
  /** The answer as it comes. */
  readonly response: <Of extends Name>(
    name: Of,
    input: Operations[Of]["input"]
  ) => Effect.Effect<Response, CommandError>
  /** The rows of a list, page by page, at most `limit` of them. */
  readonly list: <Of extends Paged>(
    name: Of,
    query: Operations[Of]["input"],
    limit: number
  ) => Effect.Effect<ReadonlyArray<Operations[Of]["row"]>, CommandError>
  /** The next row of a list, each time that it runs; undefined after the last one. */
  readonly rows: <Of extends Paged>(
    name: Of,
    query: Operations[Of]["input"]
  ) => Effect.Effect<Operations[Of]["row"] | undefined, CommandError>
}

const project = Project.setting("The project to work in, where --storage is read", defaultProject)

/** The flags of every command that has an `Access`. */
export const flags = {
  storage: StorageSetting.persistentSetting.flag,
  url: UrlSetting.setting.flag,
  project: project.flag
}

type Given = { readonly [Name in keyof typeof flags]: Option.Option<string> }

/** What a command does: which tables of a storage must be there, and which scopes the key of a server needs. */
interface Purpose {
  /** As of `StorageSetting.withExisting`. */
  readonly access: "create" | "update" | "read"
  readonly scopes: ReadonlyArray<KeyScope>
}

export const reading: Purpose = { access: "read", scopes: ["read"] }

export const auditing: Purpose = { access: "read", scopes: ["admin"] }

export const erasing: Purpose = { access: "update", scopes: ["admin"] }

export const importing: Purpose = { access: "create", scopes: ["admin"] }

/** What every operation has. Which input is that of which one, `Access` says. */
type Any = Method<{ readonly input: object; readonly answer: never; readonly row: never }, InProcess.Options>

/** `unreachable` says why there is no answer. */
const make = (
  api: Api,
  project: string | undefined,
  { scopes }: Purpose,
  unreachable: (error: unknown) => string
): Access => {
  const methods = api as unknown as Readonly<Record<Name, Any>>
  const ask = <A>(call: (options: InProcess.Options) => Promise<A>) =>
    Effect.tryPromise({
      try: (signal) => call({ signal, project }),
      catch: (error) =>
        error instanceof ApiError ? Refusal.of(error, scopes) : new CommandError({ message: unreachable(error) })
    })
  return {
    read: (name, input) => ask((options) => methods[name](input, options)),
    response: (name, input) => ask((options) => methods[name].response(input, options)),
    list: (name, query, limit) =>
      ask(async (options) => {
        const rows: Array<never> = []
        for await (const row of methods[name].each({ ...query, limit: Math.min(maxPage, limit) }, options)) {
          if (rows.push(row) === limit) break
        }
        return rows
      }),
    rows: (name, query) => {
      let rows: AsyncIterator<never, undefined> | undefined
      return ask(async (options) => {
        rows ??= methods[name].each({ ...query, limit: maxPage }, options)[Symbol.asyncIterator]()
        return (await rows.next()).value
      })
    }
  }
}

/** The innermost cause's message: that of `fetch` says nothing. */
const reasonOf = (error: unknown): string => {
  const { cause, message } = error as Error
  return cause instanceof Error && cause.message !== "" ? reasonOf(cause) : message.trim()
}

const overHttp = (url: URL, purpose: Purpose) =>
  Effect.try({
    try: () => createApi({ url: url.href, apiKey: process.env["TACHOGRAPH_API_KEY"] || undefined }),
    catch: () => new UsageError({ message: "TACHOGRAPH_API_KEY is no key: expected a text that a header can hold" })
  }).pipe(
    Effect.map((api) => make(api, undefined, purpose, (error) => `Cannot read from ${url.origin}: ${reasonOf(error)}`))
  )

/** An engine in this process. It answers errors of the storage as a server does, and logs what they are. */
const overStorage = Effect.fnUntraced(function* (name: ProjectId, purpose: Purpose) {
  const { access } = purpose
  // What is imported creates it.
  if (access !== "create") yield* Project.select(Option.some(name))
  const layer = Front.layerNoDeps.pipe(
    Layer.provide(Authorizer.layerRule(() => null)),
    Layer.provide(LocalEngine.layer),
    Layer.provide(Recorder.layer),
    // The servers of the storage do it, if this cannot write.
    Layer.provide(Layer.succeed(DeriveInBackground, access !== "read")),
    // Nothing is priced by what only reads.
    Layer.provide(access === "read" ? Layer.succeed(Prices, "none") : Layer.empty)
  )
  const run = Effect.runPromiseWith(Context.merge(yield* Effect.context(), yield* Layer.build(layer)))
  const api = InProcess.api((reply, signal) => run(Effect.provideService(reply, CurrentActor, "command"), { signal }))
  return make(api, name, purpose, (error) => `Cannot read from the storage: ${reasonOf(error)}`)
})

/** Runs `use` with a storage. */
export const useStorage = <A, E>(
  storage: Option.Option<string>,
  project: ProjectId,
  purpose: Purpose,
  use: (access: Access) => Effect.Effect<A, E, Scope.Scope>
) =>
  StorageSetting.withExisting(
    storage,
    { access: purpose.access, contents: "events" },
    Effect.scoped(Effect.flatMap(overStorage(project, purpose), use))
  ).pipe(Effect.provide(Logging.layer("Warn")))

/** Runs `use` with what the flags say. Where they say nothing, it is the storage that a server uses by default. */
export const use = Effect.fnUntraced(function* <A, E>(
  given: Given,
  purpose: Purpose,
  use: (access: Access) => Effect.Effect<A, E, Scope.Scope>
) {
  const url = yield* UrlSetting.resolve(given.url, given.storage)
  if (url !== undefined) {
    if (Option.isSome(given.project)) {
      return yield* new UsageError({ message: "--project is of --storage: with --url, the key says which project" })
    }
    return yield* Effect.scoped(Effect.flatMap(overHttp(url, purpose), use))
  }
  return yield* useStorage(given.storage, yield* project.resolve(given.project), purpose, use)
})
