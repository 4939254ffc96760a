/**
 * What the interface says, as test cases, over anything that answers requests:
 *
 *   HttpSuite.run("fetch, in memory", { storage: () => MemoryStorage.layer, serve })
 *
 * Each row of the interface's tables (fields, errors, defaults, side effects) has a case that fails when it is broken.
 */
import { ApiKeys, ProjectId, Storage } from "@tachograph/core"
import { DateTime, Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { afterAll, beforeAll, describe, expect } from "vitest"
import * as HttpClient from "./HttpClient.ts"
import * as AgentCases from "./http/AgentCases.ts"
import * as BodyCases from "./http/BodyCases.ts"
import * as Cases from "./http/Cases.ts"
import * as ErasureCases from "./http/ErasureCases.ts"
import * as EventCases from "./http/EventCases.ts"
import * as FingerprintCases from "./http/FingerprintCases.ts"
import * as IdempotencyCases from "./http/IdempotencyCases.ts"
import * as KeyCases from "./http/KeyCases.ts"
import * as PathCases from "./http/PathCases.ts"
import * as PeopleCases from "./http/PeopleCases.ts"
import * as ReadingCases from "./http/ReadingCases.ts"
import { expectError } from "./http/Requests.ts"
import * as StorageCases from "./http/StorageCases.ts"
import type { Subject } from "./http/Subject.ts"
import * as VerbatimCases from "./http/VerbatimCases.ts"

export type { Exceptions } from "./http/Cases.ts"
export type { Subject } from "./http/Subject.ts"

export interface HttpSuiteOptions {
  /** An empty storage of its own for each call. */
  readonly storage: () => Layer.Layer<Storage, unknown>
  /** Mounts the router over a storage, in the way that is to be tested. */
  readonly serve: (
    storage: Layer.Layer<Storage>
  ) => Promise<{ readonly fetch: HttpClient.Fetch; readonly close: () => Promise<void> }>
  /** Where `serve` mounts the router, such as `/tachograph`: every path of the cases goes below it. */
  readonly basePath?: string
  /** Expects the host's answer to what the router leaves to it. The router's own 404 unless given. */
  readonly expectNotOurs?: (answer: HttpClient.Answer) => void
  /** What happens instead of a case that cannot hold over this transport, with the reason, by the case's title. */
  readonly exceptions?: Cases.Exceptions
}

const all = [
  EventCases,
  IdempotencyCases,
  VerbatimCases,
  ReadingCases,
  FingerprintCases,
  AgentCases,
  BodyCases,
  PeopleCases,
  KeyCases,
  PathCases,
  ErasureCases,
  StorageCases
]

/** A transport that has another number of cases leaves some out. */
const count = 203

const expectNotFound = (answer: HttpClient.Answer) => {
  expectError(answer, 404, "not-found")
  expect(answer.headers.get("x-request-id")).not.toBeNull()
}

export const run = (
  name: string,
  { basePath = "", exceptions = {}, expectNotOurs = expectNotFound, serve, storage }: HttpSuiteOptions
) => {
  describe(`HttpSuite: ${name}`, () => {
    let subject: Subject
    let close: () => Promise<void>

    beforeAll(async () => {
      const opened = ManagedRuntime.make(ApiKeys.layer().pipe(Layer.provideMerge(storage())))
      const service = await opened.runPromise(Storage)
      const served = await serve(Layer.succeed(Storage, service))
      close = async () => {
        await served.close()
        await opened.dispose()
      }
      const issue: Subject["issue"] = ({ expiresIn, project = "default", scopes }) =>
        opened.runPromise(
          Effect.gen(function* () {
            const keys = yield* ApiKeys
            const now = yield* DateTime.now
            const expiresAt = expiresIn === undefined ? null : DateTime.add(now, { milliseconds: expiresIn })
            const [secret, { id }] = yield* keys.issue({
              project: ProjectId.make(project),
              name: "of the suite",
              scopes,
              expiresAt
            })
            return { key: Redacted.value(secret), id }
          })
        )
      const as: Subject["as"] = (key) => HttpClient.make(served.fetch, key, basePath)
      const client = as((await issue({ scopes: ["admin"] })).key)
      const fingerprint = await client.put("/api/v1/fingerprints", {
        language: "typescript",
        language_version: "7",
        system: "linux"
      })
      subject = {
        expectNotOurs,
        client,
        as,
        issue,
        revoke: async (id) => void (await opened.runPromise(Effect.flatMap(ApiKeys, (keys) => keys.revoke(id)))),
        fingerprintId: fingerprint.body.fingerprint_id
      }
    })

    afterAll(() => close())

    const defineAll = (cases: Cases.Cases) => {
      for (const { define } of all) define(cases)
    }
    Cases.register(defineAll, { count, exceptions, subject: () => subject })
  })
}
