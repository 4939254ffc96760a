/**
 * What commands read and write: the contract, asked of an engine in this process over `--storage`, or of the server at
 * `--url` with the key of `TACHOGRAPH_API_KEY`. A command is written once, over `fetch`.
 */
import {
  defaultProject,
  DeriveInBackground,
  Prices,
  type ProjectId,
  Recorder,
  type Scope as KeyScope
} from "@tachograph/core"
import { Authorizer, Front, LocalEngine, prefix, Web } from "@tachograph/router"
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

/** Parameters of a query; those that are undefined are not sent. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

type Page<Name extends string, Row> = Readonly<Record<Name, ReadonlyArray<Row>>> & {
  readonly next_cursor: string | null
}

/** Rows of a page at most. */
const maxPage = 1_000

export interface Access {
  /** Asks for a path below the prefix of the contract: `/sessions`. Fails where the answer is an error. */
  readonly request: (path: string, query?: Query, init?: RequestInit) => Effect.Effect<Response, CommandError>
  /** The JSON of the answer to a GET. */
  readonly read: <A>(path: string, query?: Query) => Effect.Effect<A, CommandError>
  /** The rows of a list, page by page, at most `limit` of them. */
  readonly list: <Name extends string, Row>(
    path: string,
    name: Name,
    query: Query,
    limit: number
  ) => Effect.Effect<ReadonlyArray<Row>, CommandError>
}

const project = Project.setting("The project to work in, where --storage is read", defaultProject)

/** The flags of every command that has an `Access`. */
export const flags = {
  storage: StorageSetting.persistentSetting.flag,
  url: UrlSetting.setting.flag,
  project: project.flag
}

type Given = { readonly [Name in keyof typeof flags]: Option.Option<string> }

/** What a command does with a storage: which of its tables must be there, and what it may do. */
interface Purpose {
  /** As of `StorageSetting.withExisting`. */
  readonly access: "create" | "update" | "read"
  readonly scopes: ReadonlyArray<KeyScope>
}

export const reading: Purpose = { access: "read", scopes: ["read"] }

export const auditing: Purpose = { access: "read", scopes: ["admin"] }

export const importing: Purpose = { access: "create", scopes: ["admin"] }

type Fetch = (request: Request) => Promise<Response | undefined>

/** A path as it is asked for. */
const pathOf = (path: string, query: Query): string => {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
  return `${prefix}${path}${parameters.size === 0 ? "" : `?${parameters}`}`
}

const make = (base: string, fetch: Fetch, { scopes }: Purpose, unreachable: (error: unknown) => string): Access => {
  const request: Access["request"] = Effect.fnUntraced(function* (path, query = {}, init = {}) {
    const response = yield* Effect.tryPromise({
      try: async (signal) => {
        const response = await fetch(new Request(base + pathOf(path, query), { ...init, signal }))
        if (response === undefined) throw new Error("it was closed")
        return response
      },
      catch: (error) => new CommandError({ message: unreachable(error) })
    })
    return response.ok ? response : yield* Refusal.of(response, scopes)
  })
  const read = <A>(path: string, query?: Query) =>
    Effect.flatMap(request(path, query), (response) =>
      Effect.tryPromise({
        try: async () => (await response.json()) as A,
        catch: (error) => new CommandError({ message: unreachable(error) })
      })
    )
  const list = Effect.fnUntraced(function* <Name extends string, Row>(
    path: string,
    name: Name,
    query: Query,
    limit: number
  ) {
    const rows: Array<Row> = []
    for (let cursor: string | undefined; rows.length < limit;) {
      const page: Page<Name, Row> = yield* read<Page<Name, Row>>(path, {
        ...query,
        limit: Math.min(maxPage, limit - rows.length),
        cursor
      })
      rows.push(...page[name])
      if (page.next_cursor === null) break
      cursor = page.next_cursor
    }
    return rows
  })
  return { request, read, list }
}

/** The innermost cause's message: that of `fetch` says nothing. */
const reasonOf = (error: unknown): string => {
  const { cause, message } = error as Error
  return cause instanceof Error && cause.message !== "" ? reasonOf(cause) : message.trim()
}

/** The server at a URL, below which the contract is mounted. That of the contract itself is taken too. */
const overHttp = (url: URL, purpose: Purpose): Access => {
  const key = process.env["TACHOGRAPH_API_KEY"]
  const base = url.href.replace(/\/+$/, "").replace(/\/api\/v1$/, "")
  const send: Fetch = (request) => {
    if (key) request.headers.set("authorization", `Bearer ${key}`)
    return fetch(request, { redirect: "error" })
  }
  return make(base, send, purpose, (error) => `Cannot read from ${url.origin}: ${reasonOf(error)}`)
}

/** An engine in this process. It answers errors of the storage as a server does, and logs what they are. */
const overStorage = Effect.fnUntraced(function* (name: ProjectId, purpose: Purpose) {
  const { access, scopes } = purpose
  // What is imported creates it.
  if (access !== "create") yield* Project.select(Option.some(name))
  const layer = Front.layerNoDeps.pipe(
    Layer.provide(Authorizer.layerRule(() => ({ project: name, scopes }))),
    Layer.provide(LocalEngine.layer),
    Layer.provide(Recorder.layer),
    // The servers of the storage do it, if this cannot write.
    Layer.provide(Layer.succeed(DeriveInBackground, access !== "read")),
    // Nothing is priced by what only reads.
    Layer.provide(access === "read" ? Layer.succeed(Prices, "none") : Layer.empty)
  )
  const context = yield* Layer.build(layer)
  const web = yield* Effect.provideService(Web.make, Front, Context.get(context, Front))
  return make("http://storage", web, purpose, (error) => `Cannot read from the storage: ${reasonOf(error)}`)
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
    return yield* Effect.scoped(use(overHttp(url, purpose)))
  }
  return yield* useStorage(given.storage, yield* project.resolve(given.project), purpose, use)
})
