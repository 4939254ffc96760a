/** Unexpected errors are answered with an id only; their causes are logged. */
import { Errors, MemoryStorage, Storage } from "@tachograph/core"
import { HttpClient } from "@tachograph/testkit"
import { Effect, Layer, Logger } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createTachograph, type Tachograph } from "../../src/index.ts"

const key = "an API key for the failures"
const logged: Array<{ readonly message: string; readonly annotations: Readonly<Record<string, unknown>> }> = []
let tachograph: Tachograph
let client: HttpClient.Client

/** A storage with a defect, and two methods that fail as if the database were unavailable. */
const broken = Layer.effect(
  Storage,
  Effect.map(Storage, (storage) =>
    Storage.of({
      ...storage,
      getAgent: () => Effect.die(new Error("planted in a defect")),
      getPerson: () => Effect.fail(new Errors.StorageUnavailable({ cause: new Error("planted in a cause") })),
      ping: Effect.fail(new Errors.StorageUnavailable({ cause: undefined }))
    })
  )
).pipe(Layer.provide(MemoryStorage.layer))

const collect = Logger.layer([
  Logger.map(Logger.formatStructured, ({ annotations, cause, message }) => {
    logged.push({ message: JSON.stringify([message, cause]), annotations })
  })
])

beforeAll(async () => {
  tachograph = await createTachograph({ storage: broken.pipe(Layer.provideMerge(collect)), apiKeys: [key] })
  client = HttpClient.make(tachograph.fetch, key)
})

afterAll(() => tachograph.close())

describe("Failures", () => {
  it("are answered 500 with the id of the logged error, and nothing else", async () => {
    const { body, headers, status, text } = await client.get("/api/v1/agents/planted-name")
    expect([status, body]).toEqual([500, { type: "internal", id: expect.stringMatching(/^[0-9a-f-]{36}$/) }])
    expect(headers.get("x-request-id")).toBe(body.id)
    expect(text).not.toContain("planted")
    const entry = logged.find(({ annotations }) => annotations["request_id"] === body.id)
    expect(entry?.message).toContain("planted in a defect")
    expect(JSON.stringify(logged)).not.toMatch(/planted-name|an API key for/)
  })

  it("of the storage are answered 503 with Retry-After, and their causes are logged", async () => {
    for (const path of ["/api/v1/people/x", "/ready"]) {
      const { body, headers, status } = await client.get(path)
      expect([status, body]).toEqual([503, { type: "storage-unavailable" }])
      expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1)
    }
    expect(logged.some(({ message }) => message.includes("planted in a cause"))).toBe(true)
    expect((await client.get("/health")).status).toBe(200)
  })
})
