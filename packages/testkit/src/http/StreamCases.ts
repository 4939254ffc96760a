/** Following events: over one connection, and by requests that wait. */
import { setTimeout } from "node:timers/promises"
import { expect } from "vitest"
import type { Client } from "../HttpClient.ts"
import type { Cases } from "./Cases.ts"
import { event, expectError, expectInvalid } from "./Requests.ts"

const path = "/api/v1/events/stream"

interface Followed {
  readonly event_id: string
  readonly cursor: string
}

/** Waits for events after a cursor until there are as many. Returns their ids, and where to go on. */
const follow = async (client: Client, cursor: string, count: number, filter = "") => {
  const ids: Array<string> = []
  let next = cursor
  while (ids.length < count) {
    const { body, status } = await client.get(`${path}?wait=10&cursor=${next}${filter}`)
    expect(status).toBe(200)
    ids.push(...body.events.map(({ event_id }: Followed) => event_id))
    next = body.next_cursor
  }
  return { ids, next }
}

/** The lines of a body, as they come, without empty ones. */
const linesOf = async function* (body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ""
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n")
    rest = lines.pop()!
    yield* lines.filter((line) => line !== "")
  }
}

/** Within this time nothing more may be answered to a key that was revoked, or has expired (ms). */
const keyDeadlineMs = 10_000

export const define = ({ describe, fixture, it }: Cases) => {
  const inProject = async (project: string) => {
    const { as, issue } = fixture()
    const { key } = await issue({ scopes: ["admin"], project })
    const client = as(key)
    const { body } = await client.put("/api/v1/fingerprints", { language: "l", language_version: "1", system: "s" })
    // As clients do, where the server has too much to do: for some seconds.
    const record = async (fields: Record<string, unknown> = {}, triesLeft = 100): Promise<string> => {
      const { body: recorded, status } = await client.post("/api/v1/events", event(body.fingerprint_id, fields))
      if (status === 503 && triesLeft > 0) return setTimeout(100).then(() => record(fields, triesLeft - 1))
      expect([status, recorded.type]).toEqual([200, undefined])
      return recorded.event_id as string
    }
    const start = async (filter = "") => {
      const { body, status } = await client.get(`${path}?wait=0${filter}`)
      expect([status, body.events]).toEqual([200, []])
      return body.next_cursor as string
    }
    return { client, key, record, start }
  }

  describe("Follow events", () => {
    it("answers what came after a cursor, once and in the fields of a list", async () => {
      const { client, record, start } = await inProject("stream all")
      await record()
      const cursor = await start()
      const recorded = [await record(), await record(), await record({ session: "ö" })]
      const { ids, next } = await follow(client, cursor, 3)
      expect(ids.sort()).toEqual(recorded.sort())
      expect((await client.get(`${path}?wait=0&cursor=${next}`)).body.events).toEqual([])
      const last = await record()
      expect((await follow(client, next, 1)).ids).toEqual([last])
      // The same again, from the same cursor.
      expect((await follow(client, cursor, 4)).ids.sort()).toEqual([...recorded, last].sort())
      const [followed] = (await client.get(`${path}?wait=10&cursor=${next}`)).body.events
      expect(followed).toEqual((await client.get("/api/v1/events?order=desc&limit=1")).body.events[0])
    })

    it("waits for an event", async () => {
      const { client, record, start } = await inProject("stream wait")
      const waiting = follow(client, await start(), 1)
      const recorded = await record()
      expect((await waiting).ids).toEqual([recorded])
    })

    it("follows what a filter finds", async () => {
      const { client, record, start } = await inProject("stream some")
      const filter = "&agent=a&model=m"
      const cursor = await start(filter)
      const first = await record({ agent: "a" })
      for (let n = 0; n < 3; n++) await record({ agent: "b" })
      const second = await record({ agent: "a", session: "t" })
      const { ids, next } = await follow(client, cursor, 2, filter)
      expect(ids.sort()).toEqual([first, second].sort())
      expect((await client.get(`${path}?wait=0&cursor=${next}${filter}`)).body.events).toEqual([])
      expect((await client.get(`${path}?wait=0&cursor=${next}&agent=unknown`)).body.events).toEqual([])
    })

    it("goes through more events than an answer has", async () => {
      const { client, record, start } = await inProject("stream many")
      const cursor = await start()
      // An answer has at most 100.
      const recorded = await Promise.all(Array.from({ length: 130 }, (_, n) => record({ session: `s${n % 20}` })))
      const { ids } = await follow(client, cursor, 130)
      expect(ids.sort()).toEqual(recorded.sort())
    })

    it("shows nothing of another project", async () => {
      const { client, start } = await inProject("stream mine")
      const cursor = await start()
      const { record } = await inProject("stream theirs")
      await record()
      expect((await client.get(`${path}?wait=1&cursor=${cursor}`)).body.events).toEqual([])
    })

    it.each([
      ["wait=31", "less_than_equal", "wait"],
      ["wait=-1", "greater_than_equal", "wait"],
      ["wait=x", "int_parsing", "wait"],
      ["wait=0&cursor=c1_00", "value_error", "cursor"],
      ["wait=0&limit=1", "extra_forbidden", "limit"]
    ])("refuses %s with %s", async (query, type, parameter) => {
      expectInvalid(await fixture().client.get(`${path}?${query}`), type, "query", parameter)
    })

    it("waits no longer than a client prefers", async () => {
      const { client } = await inProject("stream prefer less")
      const get = (wait: number, headers: Record<string, string> = {}) =>
        client.call("GET", `/api/v1/events/stream?wait=${wait}`, undefined, headers)
      const longer = get(1).then(() => "longer")
      const shorter = get(30, { prefer: "wait=0" }).then(({ body, status }) => [status, body.events])
      expect(await Promise.race([longer, shorter])).toEqual([200, []])
      await longer
    })

    it("ends a stream with the first events for a client that prefers to wait", { tags: ["adapter"] }, async () => {
      const { client, record, start } = await inProject("stream prefer")
      const cursor = await start()
      const recorded = await record()
      const prefer = (seconds: number, cursor: string) =>
        client.call("GET", `${path}?cursor=${cursor}`, undefined, { prefer: `respond-async, wait=${seconds}` })
      const { status, text } = await prefer(10, cursor)
      const [line, ...others] = text.split("\n").filter((line) => line !== "")
      expect([status, others]).toEqual([200, []])
      const followed = JSON.parse(line!) as Followed
      expect(followed.event_id).toBe(recorded)
      const nothing = await prefer(0, followed.cursor)
      expect([nothing.status, nothing.text.trim()]).toEqual([200, ""])
    })

    it("streams lines with cursors, to go on with over another connection", { tags: ["adapter"] }, async () => {
      const { client, key, record } = await inProject("stream lines")
      const gone = new AbortController()
      const response = await fixture().open(path, key, gone.signal)
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/x-ndjson"])
      const begin = response.headers.get("tachograph-cursor")!
      const lines = linesOf(response.body!)
      const recorded: Array<string> = []
      const followed: Array<Followed> = []
      for (let n = 0; n < 3; n++) {
        recorded.push(await record())
        followed.push(JSON.parse((await lines.next()).value!) as Followed)
      }
      expect(followed.map(({ event_id }) => event_id)).toEqual(recorded)
      const { cursor: _, ...summary } = followed[2]!
      expect(summary).toEqual((await client.get("/api/v1/events?order=desc&limit=1")).body.events[0])
      gone.abort()
      await expect(lines.next()).rejects.toThrow()
      expect((await follow(client, begin, 3)).ids.sort()).toEqual([...recorded].sort())
      expect((await follow(client, followed[0]!.cursor, 2)).ids.sort()).toEqual(recorded.slice(1).sort())
    })

    const endsWithKey = async (end: "revoked" | "expired") => {
      const { record } = await inProject(`stream ${end}`)
      const { as, issue, open, revoke } = fixture()
      const reader = { scopes: ["read"] as const, project: `stream ${end}` }
      const { id, key } = await issue(end === "expired" ? { ...reader, expiresIn: 3_000 } : reader)
      const lines = linesOf((await open(path, key, AbortSignal.timeout(keyDeadlineMs))).body!)
      const first = await record()
      const { cursor, event_id } = JSON.parse((await lines.next()).value!) as Followed
      expect(event_id).toBe(first)
      if (end === "revoked") await revoke(id)
      // It ends as a whole stream does, so that a client asks again, and learns why.
      expect(await lines.next()).toEqual({ done: true, value: undefined })
      expectError(await as(key).get(`${path}?wait=0&cursor=${cursor}`), 401, "unauthorized")
      const second = await record()
      const { key: another } = await issue(reader)
      expect((await follow(as(another), cursor, 1)).ids).toEqual([second])
    }

    it("ends a stream whose key another process has revoked", { tags: ["adapter"], timeout: 15_000 }, () =>
      endsWithKey("revoked")
    )

    it("ends a stream whose key expires", { timeout: 15_000 }, () => endsWithKey("expired"))

    it("answers nothing to a key that expires while it waits", async () => {
      const { record, start } = await inProject("stream late")
      const cursor = await start()
      const { as, issue } = fixture()
      const { key } = await issue({ scopes: ["read"], project: "stream late", expiresIn: 500 })
      const waiting = as(key).get(`${path}?wait=10&cursor=${cursor}`)
      await setTimeout(1_500)
      await record()
      expectError(await waiting, 401, "unauthorized")
    })
  })
}
