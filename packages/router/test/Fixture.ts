/** A router behind one of the ways into it, over a storage whose calls a test can hold or fail. */
import {
  ApiKeys,
  CommitLimits,
  defaultCommitLimits,
  defaultProject,
  FingerprintId,
  JsonText,
  MemoryStorage,
  Name,
  type Scope,
  Storage
} from "@tachograph/core"
import { DateTime, Deferred, Effect, Layer, Logger, ManagedRuntime, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import { expect, onTestFinished } from "vitest"
import { apiKey, event } from "./Samples.ts"
import { type Answer, type Outgoing, type Way, ways } from "./Ways.ts"

/** Lets calls pass, or holds them until it is opened. */
class Gate {
  /** Calls that have arrived. */
  arrivals = 0
  readonly #opened = Deferred.makeUnsafe<void>()

  constructor(isOpen: boolean) {
    if (isOpen) this.open()
  }

  open(): void {
    Deferred.doneUnsafe(this.#opened, Effect.void)
  }

  readonly pass = Effect.suspend(() => {
    this.arrivals++
    return Deferred.await(this.#opened)
  })

  /** Resolves when this many calls have arrived. */
  async arrived(calls: number): Promise<void> {
    await expect.poll(() => this.arrivals, { interval: 2 }).toBe(calls)
  }
}

export interface Setup {
  readonly queue?: Partial<typeof defaultCommitLimits.queue>
  readonly bodyBudgetBytes?: number
  /** The limits on the length of an event's body and of any other body (bytes). */
  readonly maxBody?: number
  readonly maxOtherBody?: number
  readonly strict?: boolean
  /** Calls of the storage that wait until the case opens their gate. */
  readonly holds?: ReadonlyArray<"appendEvents" | "findApiKey">
  /** Calls of the storage that fail. */
  readonly fails?: Partial<Storage["Service"]>
}

/** A Create Event with a valid key and a valid body, unless it says otherwise. `undefined` leaves a header out. */
export type Sent = Partial<Omit<Outgoing, "headers">> & {
  readonly headers?: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
}

export interface Fixture {
  readonly send: (sent?: Sent) => Promise<Answer>
  /** The body of a valid event. */
  readonly body: string
  readonly issue: (scope: Scope) => Promise<string>
  readonly appends: Gate
  /** Sends an event, and resolves when the storage holds it. */
  readonly holdOne: (sent?: Sent) => Promise<void>
  readonly lookups: Gate
  readonly close: () => Promise<void>
}

/** No deadline that a slow machine could miss. */
const unhurried = { ...defaultCommitLimits.queue, waitMs: 60_000 }

const defaultHeaders = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" }

export const fixtureOf = async (way: Way, setup: Setup): Promise<Fixture> => {
  const runtime = ManagedRuntime.make(ApiKeys.layer().pipe(Layer.provideMerge(MemoryStorage.layer)))
  const { keys, storage } = await runtime.runPromise(Effect.all({ keys: ApiKeys, storage: Storage }))
  const id = FingerprintId.make(randomUUID())
  const fingerprint = { id, fields: JsonText.unsafe("{}"), createdAt: DateTime.makeUnsafe(0) }
  await runtime.runPromise(storage.putFingerprint(defaultProject, fingerprint))
  const body = JSON.stringify(event(id))

  const appends = new Gate(setup.holds?.includes("appendEvents") !== true)
  const lookups = new Gate(setup.holds?.includes("findApiKey") !== true)
  const held: Storage["Service"] = {
    ...storage,
    appendEvents: (events) => Effect.andThen(appends.pass, storage.appendEvents(events)),
    findApiKey: (hash) => Effect.andThen(lookups.pass, storage.findApiKey(hash)),
    ...setup.fails
  }
  const { bodyBudgetBytes = defaultCommitLimits.bodyBudgetBytes } = setup
  const limits = { ...defaultCommitLimits, queue: { ...unhurried, ...setup.queue }, bodyBudgetBytes }
  const opened = await ways[way]({
    storage: Layer.mergeAll(Layer.succeed(Storage, held), Layer.succeed(CommitLimits, limits), Logger.layer([])),
    maxBody: setup.maxBody,
    maxOtherBody: setup.maxOtherBody,
    strict: setup.strict
  })
  onTestFinished(async () => {
    appends.open()
    lookups.open()
    await opened.close()
    await runtime.dispose()
  })

  const send: Fixture["send"] = ({ headers, ...sent } = {}) => {
    const present = Object.entries({ ...defaultHeaders, ...headers }).filter(([, value]) => value !== undefined)
    const whole = { method: "POST", target: "/api/v1/events", body, framing: "whole" } as const
    return opened.send({ ...whole, ...sent, headers: Object.fromEntries(present) as Outgoing["headers"] })
  }

  return {
    body,
    appends,
    lookups,
    send,
    close: opened.close,
    holdOne: async (sent) => {
      void send(sent)
      await appends.arrived(1)
    },
    issue: async (scope) => {
      const wanted = { project: defaultProject, name: Name.make("test"), scopes: [scope], expiresAt: null }
      const [secret] = await runtime.runPromise(keys.issue(wanted))
      return `Bearer ${Redacted.value(secret)}`
    }
  }
}

export const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)

export interface Expected {
  readonly status: number
  readonly body: unknown
  /** Beside the headers that follow from the status and the path. */
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the path is not below `/api/`, so that the answer may be cached. */
  readonly isCacheable?: boolean
}

/** All headers of an answer. `Retry-After` is 1 to 3 s on every 503, and absent otherwise. */
const headersOf = ({ headers, isCacheable = false, status }: Expected, text: string) => ({
  "content-length": String(Buffer.byteLength(text)),
  "content-type": "application/json",
  "x-content-type-options": "nosniff",
  "x-request-id": uuid,
  ...(isCacheable ? {} : { "cache-control": "no-store" }),
  ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
  ...(status === 503 ? { "retry-after": expect.stringMatching(/^[123]$/) } : {}),
  ...headers
})

/** In process there are no status and no headers. */
export const expectAnswer = ({ http, text }: Answer, expected: Expected): void => {
  const body = JSON.parse(text)
  expect(body).toEqual(expected.body)
  if (http === undefined) return
  expect(http).toEqual({ status: expected.status, headers: headersOf(expected, text) })
  // The id in the body of a 500 is that of the request.
  if ("id" in body) expect(body.id).toBe(http.headers["x-request-id"])
}
