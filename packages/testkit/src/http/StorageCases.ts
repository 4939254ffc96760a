/** Storage usage, as the interface reports it. */
import { expect } from "vitest"
import type { Client } from "../HttpClient.ts"
import type { Cases } from "./Cases.ts"
import { event, expectError, expectInvalid } from "./Requests.ts"

const path = "/api/v1/storage"

const counters = ["events", "sent_bytes", "new_bytes", "stored_bytes"] as const

const empty = {
  ...{ events: 0, sent_bytes: 0, new_bytes: 0, stored_bytes: 0 },
  ...{ shared: { pieces: 0, new_bytes: 0, stored_bytes: 0 }, agents: [], sessions: [] }
}

/** Long enough to be stored once per project, and hard to compress. */
const system = Array.from({ length: 600 }, (_, n) => `rule ${(n * 7919) % 9973}`).join(", ")

export const define = ({ describe, fixture, it }: Cases) => {
  /** A project of its own for each case. */
  const open = async (project: string) => {
    const { as, issue } = fixture()
    const client: Client = as((await issue({ scopes: ["admin"], project })).key)
    const { body } = await client.put("/api/v1/fingerprints", { language: "l", language_version: "v", system: "s" })
    const usage = async (query = "") => (await client.get(path + query)).body
    /** Records an event and returns the size of its payload, in bytes. */
    const send = async (fields: object, messages: ReadonlyArray<string>) => {
      const inputs = { model: "m", system, messages }
      const output = { role: "assistant", content: `to ${messages.length}` }
      const properties = { api: "provider2-messages", inputs, output }
      const { status } = await client.post("/api/v1/events", event(body.fingerprint_id, { ...fields, properties }))
      expect(status).toBe(200)
      return Buffer.byteLength(JSON.stringify(inputs)) + Buffer.byteLength(JSON.stringify(output))
    }
    return { client, usage, send }
  }

  const message = (n: number) =>
    `message ${n}: ${Array.from({ length: 30 }, (_, i) => (i * n * 104_729) % 99_991).join(" ")}`

  describe("Storage", () => {
    it("counts sent bytes exactly, and new bytes once", async () => {
      const { send, usage } = await open("counted")
      expect(await usage()).toEqual(empty)
      const history = Array.from({ length: 20 }, (_, n) => message(n + 1))
      const bytes = await send({}, history)
      const first = await usage()
      expect(first).toMatchObject({ events: 1, sent_bytes: bytes, shared: { pieces: 1 } })
      expect(first.new_bytes).toBeGreaterThan(bytes * 0.9)
      expect(first.new_bytes).toBeLessThan(bytes * 1.1)
      expect(first.stored_bytes).toBeGreaterThan(0)
      expect(first.stored_bytes).toBeLessThan(bytes)

      // The same history again, and then with one more message: only that message is new.
      await send({}, history)
      const again = await usage()
      expect([again.events, again.sent_bytes]).toEqual([2, 2 * bytes])
      expect(again.new_bytes - first.new_bytes).toBeLessThan(bytes / 20)
      expect(again.stored_bytes - first.stored_bytes).toBeLessThan(first.stored_bytes / 20)
      const longer = await send({}, [...history, message(99)])
      const more = await usage()
      expect(more.sent_bytes).toBe(2 * bytes + longer)
      expect(more.new_bytes - again.new_bytes).toBeGreaterThanOrEqual(message(99).length)
      expect(more.new_bytes - again.new_bytes).toBeLessThan(2 * message(99).length)
      // Another session shares the system prompt, but not the history.
      await send({ session: "another" }, history)
      const other = await usage()
      expect(other.shared).toEqual(first.shared)
      expect(other.new_bytes - more.new_bytes).toBeLessThan(first.new_bytes - first.shared.new_bytes + 200)
      expect(other.new_bytes - more.new_bytes).toBeGreaterThanOrEqual(history.join("").length)
    })

    it("lists agents and sessions, largest first; with the shared pieces they add up to the total", async () => {
      const { send, usage } = await open("listed")
      for (const [n, size] of [3, 12, 1, 7].entries()) {
        const messages = Array.from({ length: size }, (_, i) => message(100 * n + i + 1))
        await send({ session: `session ${size}`, agent: n % 2 === 0 ? "even" : "odd" }, messages)
      }
      const whole = await usage()
      expect(Object.keys(whole).sort()).toEqual(Object.keys(empty).sort())
      for (const name of counters) {
        const sum = (rows: ReadonlyArray<any>) => rows.reduce((total, row) => total + row[name], 0)
        const shared = whole.shared[name] ?? 0
        expect([name, sum(whole.agents) + shared]).toEqual([name, whole[name]])
        expect([name, sum(whole.sessions) + shared]).toEqual([name, whole[name]])
      }
      expect(whole.agents.map(({ agent }: any) => agent)).toEqual(["odd", "even"])
      const names = whole.sessions.map(({ session }: any) => session)
      expect(names).toEqual(["session 12", "session 7", "session 3", "session 1"])
      for (const row of [...whole.agents, ...whole.sessions]) {
        expect(
          Object.keys(row)
            .filter((key) => key !== "agent" && key !== "session")
            .sort()
        ).toEqual([...counters].sort())
      }
      const largest = await usage("?sessions=2")
      expect(largest).toEqual({ ...whole, sessions: whole.sessions.slice(0, 2) })
    })

    it("lists 10 sessions by default, and at most 1,000", async () => {
      const { client, send, usage } = await open("many sessions")
      for (let n = 0; n < 11; n++) await send({ session: `s${n}` }, ["hello"])
      expect((await usage()).sessions).toHaveLength(10)
      expect((await usage("?sessions=1000")).sessions).toHaveLength(11)
      const limited = (text: string) => client.get(`${path}?sessions=${text}`)
      expectInvalid(await limited("1001"), "less_than_equal", "query", "sessions")
      expectInvalid(await limited("0"), "greater_than_equal", "query", "sessions")
      for (const wrong of ["", "x", "1.5", "1e3", "0x10"]) {
        expectInvalid(await limited(wrong), "int_parsing", "query", "sessions")
      }
    })

    it("falls by the bytes of the receipt when events are erased, to zero", async () => {
      const { client, send, usage } = await open("erased")
      const history = Array.from({ length: 8 }, (_, n) => message(n + 1))
      await send({ session: "one", person: "one" }, history)
      await send({ session: "one", person: "other" }, [...history, message(50)])
      await send({ session: "two", person: "one" }, [message(60)])
      const before = await usage()
      const { body: receipt } = await client.call("DELETE", "/api/v1/people/one")
      expect(receipt).toMatchObject({ events: 2, sessions: 1 })
      const after = await usage()
      expect(after.events).toBe(1)
      expect(before.stored_bytes - after.stored_bytes).toBe(receipt.bytes)
      expect(after.new_bytes).toBeLessThan(before.new_bytes)
      expect(after.sent_bytes).toBeLessThan(before.sent_bytes)
      expect(after.shared).toEqual(before.shared)
      expect(after.sessions.map(({ session }: any) => session)).toEqual(["one"])
      const { body: last } = await client.call("DELETE", "/api/v1/sessions/one")
      expect(last).toMatchObject({ events: 1, sessions: 1, bytes: after.stored_bytes })
      expect(await usage()).toEqual(empty)
    })

    it("covers one project, and requires the scope read", async () => {
      const { send } = await open("private")
      await send({}, ["hello"])
      expect(await (await open("public")).usage()).toEqual(empty)
      const { as, issue } = fixture()
      expectError(await as((await issue({ scopes: ["record"] })).key).get(path), 403, "forbidden")
      expect((await as((await issue({ scopes: ["read"] })).key).get(path)).status).toBe(200)
    })
  })
}
