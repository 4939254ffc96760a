/** One idempotency key used by two processes over one storage. */
import { HttpClient, RandomJson } from "@tachograph/testkit"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { describe, expect, inject, it } from "vitest"
import { serve, temporaryFolder } from "../TachographProcess.ts"

const apiKey = "a key for two servers"
const path = "/api/v1/events"
const repeats = 40
const rounds = RandomJson.runs(8)

const stores = {
  SQLite: () => `sqlite:${join(temporaryFolder(), "keys.db")}`,
  Postgres: () => {
    const url = new URL(process.env["TACHOGRAPH_TEST_POSTGRES_SERVED"] ?? inject("postgresUrl"))
    if (url.searchParams.get("pooler") !== "true") {
      url.searchParams.set("schema", `test_${randomBytes(8).toString("hex")}`)
    }
    return url.href
  }
}

describe.each(Object.entries(stores))("Two servers over one %s", (_, store) => {
  it(`store one event for ${repeats} concurrent requests with the same key, and give all the same answer`, async () => {
    const env = { TACHOGRAPH_API_KEY: apiKey, TACHOGRAPH_STORAGE: store() }
    const servers = [await serve(["--port", "0"], { env }), await serve(["--port", "0"], { env })]
    const clients = servers.map(({ url }) => HttpClient.open(url, apiKey))
    const fingerprint = { language: "typescript", language_version: "7", system: "linux" }
    const { fingerprint_id } = (await clients[0]!.put("/api/v1/fingerprints", fingerprint)).body
    const send = (n: number, key: string, session: string, input = session) =>
      clients[n % 2]!.call(
        "POST",
        path,
        {
          event_name: "llm",
          properties: { api: "aisdk", inputs: { input }, output: {} },
          fingerprint_id,
          session
        },
        { "idempotency-key": key }
      )
    for (let round = 0; round < rounds; round++) {
      const key = `key ${round}`
      const session = `s${round}`
      const answers = await Promise.all(Array.from({ length: repeats }, (_, n) => send(n, key, session)))
      expect(Array.from(new Set(answers.map(({ status, text }) => `${status} ${text}`)))).toHaveLength(1)
      expect(answers[0]!.status).toBe(200)
      // All but the first are replays.
      expect(answers.filter(({ headers }) => headers.get("idempotent-replayed") === null)).toHaveLength(1)
      for (const client of clients) {
        const { events } = (await client.get(`${path}?session=${session}`)).body
        expect(events.map((event: any) => event.event_id)).toEqual([answers[0]!.body.event_id])
      }
      const others = await Promise.all([send(0, key, session, "another"), send(1, key, session, "another")])
      expect(others.map(({ body, status }) => [status, body])).toEqual(
        others.map(() => [422, { type: "idempotency-key-reused" }])
      )
    }
    for (const server of servers) expect((await server.stop()).code).toBe(0)
  })
})
