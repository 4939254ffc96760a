/**
 * The conformance suite of the HTTP interface, for any adapter that answers requests:
 *
 *   HttpSuite.run("fetch, memory", {
 *     storage: () => MemoryStorage.layer,
 *     serve: (storage, limits) => createTachograph({ storage, ...limits })
 *   })
 *
 * Each row of the interface's tables (fields, errors, defaults, side effects) has a case that fails when it is broken.
 */
import { ApiKeyCacheTtl, ApiKeys, ProjectId, Storage } from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { afterAll, beforeAll, describe, expect } from "vitest"
import * as HttpClient from "./HttpClient.ts"
import * as AgentCases from "./http/AgentCases.ts"
import * as BatchCases from "./http/BatchCases.ts"
import * as BodyCases from "./http/BodyCases.ts"
import * as CallTimeCases from "./http/CallTimeCases.ts"
import * as Cases from "./http/Cases.ts"
import * as ConfigurationCases from "./http/ConfigurationCases.ts"
import * as ConversationCases from "./http/ConversationCases.ts"
import * as ErasureCases from "./http/ErasureCases.ts"
import * as EventCases from "./http/EventCases.ts"
import * as ExportCases from "./http/ExportCases.ts"
import * as FailureCases from "./http/FailureCases.ts"
import * as FingerprintCases from "./http/FingerprintCases.ts"
import type { Fixture } from "./http/Fixture.ts"
import * as IdempotencyCases from "./http/IdempotencyCases.ts"
import * as AuditCases from "./http/AuditCases.ts"
import * as IgnoredCases from "./http/IgnoredCases.ts"
import * as ImportCases from "./http/ImportCases.ts"
import * as KeyCases from "./http/KeyCases.ts"
import * as ListCases from "./http/ListCases.ts"
import * as OtlpCases from "./http/OtlpCases.ts"
import * as PathCases from "./http/PathCases.ts"
import * as PeopleCases from "./http/PeopleCases.ts"
import * as ReadingCases from "./http/ReadingCases.ts"
import { expectError } from "./http/Requests.ts"
import * as SearchCases from "./http/SearchCases.ts"
import * as StepCases from "./http/StepCases.ts"
import * as StorageCases from "./http/StorageCases.ts"
import * as UsageCases from "./http/UsageCases.ts"
import * as StreamCases from "./http/StreamCases.ts"
import * as VerbatimCases from "./http/VerbatimCases.ts"

export type { Exceptions, Tag } from "./http/Cases.ts"
export type { Fixture } from "./http/Fixture.ts"

/** What the suite expects of the server that `serve` starts. */
export interface ServeOptions {
  /** The largest body of an event that the server accepts, in bytes. */
  readonly maxBody: number
  /** The largest other body that it accepts, in bytes. */
  readonly maxOtherBody: number
}

export interface Served {
  readonly fetch: HttpClient.Fetch
  /** The URL of a server: `node:http` asks it, which takes less CPU time than `fetch`. What a case reads as it comes, `fetch` reads. */
  readonly url?: string
  readonly close: () => Promise<void>
}

export interface HttpSuiteOptions {
  /** Returns an empty storage; each call returns another one. */
  readonly storage: () => Layer.Layer<Storage, unknown>
  /** Mounts the router over a storage. The layer also shortens `ApiKeyCacheTtl`, so that revocation is quick to test. */
  readonly serve: (storage: Layer.Layer<Storage>, options: ServeOptions) => Promise<Served>
  /** Where `serve` mounts the router, such as `/tachograph`: prepended to every path. */
  readonly basePath?: string
  /** Checks the response to a path that the router does not handle. The router's own 404 by default. */
  readonly expectUnhandled?: (answer: HttpClient.Answer) => void
  /** Replacements for cases that cannot hold with this adapter, with the reason, by the case's title. */
  readonly exceptions?: Cases.Exceptions
  /**
   * Runs only the cases with this tag. All cases by default. With `storage`, those of what a storage decides, which have not the tag
   * `text`, and of the others those with the tag `adapter`: for a storage that passes `StorageSuite`, while another one runs all cases.
   */
  readonly tag?: Cases.Tag | "storage"
  /** The limit on events' bodies, in bytes. 1 MiB by default: small, because several cases send a body of this size. */
  readonly maxBody?: number
  /** The limit on every other body, in bytes. 512 KiB by default: not that of events. */
  readonly maxOtherBody?: number
}

const modules = [
  EventCases,
  IdempotencyCases,
  BatchCases,
  VerbatimCases,
  ReadingCases,
  ConversationCases,
  ConfigurationCases,
  FingerprintCases,
  AgentCases,
  BodyCases,
  PeopleCases,
  ListCases,
  KeyCases,
  OtlpCases,
  PathCases,
  ErasureCases,
  SearchCases,
  UsageCases,
  FailureCases,
  CallTimeCases,
  StorageCases,
  StepCases,
  StreamCases,
  ExportCases,
  ImportCases,
  IgnoredCases,
  AuditCases
]

/** What a storage finds, adds up and erases in several steps. The rest is of requests, or of events and names as `StorageSuite` has them. */
const ofStorages: ReadonlySet<(typeof modules)[number]> = new Set([
  IdempotencyCases,
  ReadingCases,
  ConversationCases,
  ConfigurationCases,
  ListCases,
  ErasureCases,
  SearchCases,
  UsageCases,
  FailureCases,
  CallTimeCases,
  StorageCases,
  StepCases,
  ExportCases
])

/** Short, because a case waits until a cached key expires. */
const apiKeyCacheTtl = "200 millis"

const expectNotFound = (answer: HttpClient.Answer) => {
  expectError(answer, 404, "not-found")
  expect(answer.headers.get("x-request-id")).not.toBeNull()
}

export const run = (
  name: string,
  {
    basePath = "",
    exceptions = {},
    expectUnhandled = expectNotFound,
    maxBody = 1024 * 1024,
    maxOtherBody = 512 * 1024,
    serve,
    storage,
    tag
  }: HttpSuiteOptions
) => {
  describe(`HttpSuite: ${name}`, () => {
    let fixture: Fixture
    let close: () => Promise<void>

    beforeAll(async () => {
      const runtime = ManagedRuntime.make(ApiKeys.layer().pipe(Layer.provideMerge(storage())))
      const service = Layer.succeed(Storage, await runtime.runPromise(Storage))
      const layer = Layer.merge(service, Layer.succeed(ApiKeyCacheTtl, apiKeyCacheTtl))
      const served = await serve(layer, { maxBody, maxOtherBody })
      close = async () => {
        await served.close()
        await runtime.dispose()
      }
      const issue: Fixture["issue"] = ({ expiresIn, project = "default", scopes }) =>
        runtime.runPromise(
          Effect.gen(function* () {
            const keys = yield* ApiKeys
            const now = yield* DateTime.now
            const expiresAt = expiresIn === undefined ? null : DateTime.add(now, { milliseconds: expiresIn })
            const [secret, { id }] = yield* keys.issue({
              project: ProjectId.make(project),
              name: "HttpSuite",
              scopes,
              expiresAt
            })
            return { key: Redacted.value(secret), id }
          })
        )
      const { url } = served
      const as: Fixture["as"] = (key) =>
        url === undefined ? HttpClient.make(served.fetch, key, basePath) : HttpClient.open(url + basePath, key)
      const client = as((await issue({ scopes: ["admin"] })).key)
      const fingerprint = await client.put("/api/v1/fingerprints", {
        language: "typescript",
        language_version: "7",
        system: "linux"
      })
      fixture = {
        open: (path, key, signal) =>
          served.fetch(
            new Request(`http://localhost${basePath}${path}`, { headers: { authorization: `Bearer ${key}` }, signal })
          ),
        expectUnhandled,
        client,
        as,
        issue,
        revoke: async (id) => void (await runtime.runPromise(Effect.flatMap(ApiKeys, (keys) => keys.revoke(id)))),
        fingerprintId: fingerprint.body.fingerprint_id,
        maxBody,
        maxOtherBody
      }
    })

    afterAll(() => close())

    const all = modules.flatMap((module) => {
      const cases = Cases.collect(module.define, () => fixture)
      if (tag !== "storage") return cases
      return cases.filter(ofStorages.has(module) ? (each) => !Cases.has("text")(each) : Cases.has("adapter"))
    })
    const selected = tag === "storage" ? all : Cases.select(all, tag)
    Cases.register(selected, exceptions, () => fixture)
  })
}
