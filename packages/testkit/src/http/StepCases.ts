/** Steps of sessions, which an import brings here. */
import { crc32 } from "node:zlib"
import { expect } from "vitest"
import type { Client } from "../HttpClient.ts"
import type { Cases } from "./Cases.ts"
import { event, expectError, expectInvalid } from "./Requests.ts"

type Line = Record<string, any>

const ndjson = { "content-type": "application/x-ndjson" }

const span = (n: number) => n.toString(16).padStart(16, "0")

const steps = (names: object, ...some: ReadonlyArray<string>) =>
  `${JSON.stringify({ type: "steps", session: "s", received_at: "2026-11-01T00:00:09.000Z", ...names }).slice(0, -1)},"steps":[${some.join(",")}]}\n`

/** The last byte of the ids of events in the session `s`. */
const bucket = (crc32("s") % 256).toString(16).padStart(2, "0")

/** The text of a step in a line. */
const step = (n: number, fields: object = {}, attributes = "{}") => {
  const own = { trace_id: "1".repeat(32), span_id: span(n), occurred_at: `2026-11-01T00:00:0${n % 10}.000Z` }
  const common = { name: `step ${n}`, kind: "tool", status: "unset" }
  return `${JSON.stringify({ ...own, ...common, ...fields }).slice(0, -1)},"attributes":${attributes}}`
}

export const define = ({ describe, fixture, it }: Cases) => {
  const inProject = async (project: string) => {
    const { as, issue } = fixture()
    return as((await issue({ scopes: ["admin"], project })).key)
  }

  const withEvent = async (project: string, fields: object = {}) => {
    const client = await inProject(project)
    const { body } = await client.put("/api/v1/fingerprints", { language: "l", language_version: "1", system: "s" })
    const sent = event(body.fingerprint_id, { session: "s", agent: "a", ...fields })
    expect((await client.post("/api/v1/events", sent)).status).toBe(200)
    return client
  }

  const importInto = async (client: Client, lines: string): Promise<ReadonlyArray<Line>> => {
    const { status, text } = await client.call("POST", "/api/v1/import", lines, ndjson)
    expect(status).toBe(200)
    return text
      .split("\n")
      .slice(0, -2)
      .map((line) => JSON.parse(line) as Line)
  }

  const list = (client: Client, query = "", session = "s") => client.get(`/api/v1/sessions/${session}/steps${query}`)

  describe("Steps", () => {
    it(
      "lists them in the order of their starts, with their attributes byte for byte",
      { tags: ["adapter"] },
      async () => {
        const client = await withEvent("steps listed")
        const attributes = `{ "b": 1.0, "a": 9007199254740993,\\u0020"b":"\\\\ud800" }`.replace("\\u0020", " ")
        const given = {
          parent_span_id: span(7),
          duration_ms: 0.5,
          status: "error",
          message: "it \u2028 failed",
          recorded: { cut: ["a"] }
        }
        const lines = steps({ agent: "b", person: "p" }, step(2), step(1, given, attributes)) + steps({}, step(3))
        expect((await importInto(client, lines)).map(({ result, type }) => [type, result])).toEqual([
          ["steps", "imported"],
          ["steps", "imported"]
        ])
        const { body, text } = await list(client)
        expect(text).toContain(`"attributes":${attributes}}`)
        expect(body).toMatchObject({ damaged_steps: 0, next_cursor: null })
        expect(body.steps.map((each: Line) => each["span_id"])).toEqual([span(1), span(2), span(3)])
        expect(body.steps[0]).toEqual({
          ...given,
          ...{ trace_id: "1".repeat(32), span_id: span(1), name: "step 1", kind: "tool" },
          ...{ occurred_at: "2026-11-01T00:00:01.000Z", received_at: "2026-11-01T00:00:09.000Z" },
          ...{ agent: "b", agent_version: "default", person: "p" },
          attributes: JSON.parse(attributes)
        })
        const nulls = { parent_span_id: null, duration_ms: null, message: null, recorded: null, person: null }
        expect(body.steps[2]).toMatchObject({ ...nulls, agent: "default", status: "unset" })

        const first = await list(client, "?limit=2")
        expect(first.body.steps).toEqual(body.steps.slice(0, 2))
        const second = await list(client, `?limit=2&cursor=${first.body.next_cursor}`)
        expect(second.body).toEqual({ steps: body.steps.slice(2), damaged_steps: 0, next_cursor: null })
      }
    )

    it("counts them nowhere as calls", async () => {
      const client = await withEvent("steps uncounted")
      const read = async () => {
        const paths = [
          "events",
          "sessions",
          "sessions/s",
          "sessions/s/calls",
          "sessions/s/messages",
          "usage",
          "search?q=planted"
        ]
        const texts = await Promise.all(paths.map(async (path) => (await client.get(`/api/v1/${path}`)).text))
        // The bytes that they take are those of their session.
        return texts.map((text) => text.replace(/"new_bytes":\d+/, ""))
      }
      const before = await read()
      await importInto(client, steps({ agent: "a" }, step(1, {}, `{"text":"planted"}`)))
      expect(await read()).toEqual(before)
      const { body } = await client.get("/api/v1/storage")
      expect(body).toMatchObject({ events: 1 })
    })

    it("refuses what has no session, and what is no step", async () => {
      const client = await withEvent("steps refused")
      expectError(await list(client, "", "unknown"), 404, "session-not-found")
      expectInvalid(await list(client, "?cursor=c1_x"), "value_error", "query", "cursor")
      expectInvalid(await list(client, "?order=desc"), "extra_forbidden", "query", "order")
      const lines = [
        steps({ session: "unknown" }, step(1)),
        steps({ checksum: "00000000" }, step(1)),
        steps({}, step(1, { kind: "llm", trace_id: "0".repeat(32) })),
        steps({}, step(1, {}, "[]")),
        steps({}, step(1, { attributes_text: "[]" }, "null")),
        steps({})
      ]
      const answers = await importInto(client, lines.join(""))
      expect(
        answers.map(({ error, result }) => error?.type ?? error?.detail.map(({ loc }: Line) => loc.join(".")) ?? result)
      ).toEqual([
        "session-not-found",
        "checksum-differs",
        ["body.steps.0.trace_id", "body.steps.0.kind"],
        ["body.steps.0.attributes"],
        ["body.steps.0.attributes_text"],
        "exists"
      ])
      expect((await list(client)).body.steps).toEqual([])
    })

    it("exports them, so that a copy has the same, and keeps the first", async () => {
      const client = await withEvent("steps exported", { person: "p" })
      const broken = `{"a":\n[1.0]}`
      const lines =
        steps({ agent: "a", person: "p" }, step(1, { recorded: { attributes: 1 } }, `{ "x": 1.0 }`), step(2)) +
        steps({ received_at: "2026-10-01T00:00:00.000Z" }, step(3, { attributes_text: broken }, "null"))
      await importInto(client, lines)
      const { text } = await client.get("/api/v1/export")
      const exported = text.split("\n").filter((line: string) => line.startsWith(`{"type":"steps"`))
      // They come after the events of their sessions, in the order of their receipt.
      expect(exported.map((line: string) => (JSON.parse(line) as Line)["steps"].length)).toEqual([1, 2])
      expect((JSON.parse(exported[0]!) as Line)["steps"][0]).toMatchObject({ attributes_text: broken })
      expect(exported[1]).toContain(`"attributes":{ "x": 1.0 }}`)

      const copy = await inProject("steps copied")
      expect((await importInto(copy, text)).filter(({ result }) => result === "failed")).toEqual([])
      expect((await copy.get("/api/v1/export")).text).toBe(text)
      expect((await list(copy)).text).toBe((await list(client)).text)
      expect((await importInto(copy, text)).map(({ result }) => result)).not.toContain("imported")
      const other = steps({ agent: "a", person: "p" }, step(1, { name: "another" }), step(4))
      expect((await importInto(copy, other)).map(({ result }) => result)).toEqual(["imported"])
      const { body } = await list(copy)
      expect(body.steps.map(({ name }: Line) => name)).toEqual(["step 1", "step 2", "step 3", "step 4"])

      const linesOf = async (query: string) =>
        (await client.get(`/api/v1/export?${query}`)).text
          .split("\n")
          .filter((line: string) => line.includes('"steps"'))
      expect(await linesOf("session=s")).toEqual(exported)
      expect(await linesOf("person=p")).toEqual([exported[1]])
      expect(await linesOf("error=false")).toEqual([])
      expect(await linesOf("limit=1")).toEqual(exported)
    })

    it("exports them between events, so that an export can be continued after any", async () => {
      const client = await inProject("steps between")
      const { body } = await client.put("/api/v1/fingerprints", { language: "l", language_version: "1", system: "s" })
      const minute = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, n))
      const ids = [0, 10, 20].map(
        (n) =>
          `${minute(n)
            .getTime()
            .toString(16)
            .padStart(12, "0")
            .replace(/^(.{8})/, "$1-")}-7000-8000-0000000000${bucket}`
      )
      const events = ids.map((event_id, n) => {
        const given = { type: "event", event_id, received_at: minute(10 * n).toISOString() }
        return `${JSON.stringify({ ...given, ...event(body.fingerprint_id, { session: "s" }) })}\n`
      })
      const received = [1, 11, 21].map((n) => steps({ received_at: minute(n).toISOString() }, step(n)))
      const answers = await importInto(client, [...events, ...received].join(""))
      expect(answers.map(({ result }) => result)).toEqual(Array(6).fill("imported"))
      /** The minutes of events and steps. */
      const exported = async (query: string) => {
        const lines = (await client.get(`/api/v1/export${query}`)).text.split("\n").slice(0, -1)
        const times = lines.map((line: string) => JSON.parse(line) as Line)
        const found = times.filter(({ type }) => type === "event" || type === "steps")
        return found.map(({ received_at }) => new Date(received_at).getUTCMinutes())
      }
      expect(await exported("")).toEqual([0, 1, 10, 11, 20, 21])
      expect(await exported("?limit=2")).toEqual([0, 1, 10])
      expect(await exported(`?after_event=${ids[1]}`)).toEqual([11, 20, 21])
      expect(await exported(`?after_event=${ids[2]}`)).toEqual([21])
    })

    it("erases them with their session", async () => {
      const client = await withEvent("steps erased")
      await importInto(client, steps({}, step(1, {}, `{"text":"planted"}`)))
      expect((await client.call("DELETE", "/api/v1/sessions/s")).body).toMatchObject({ events: 1, sessions: 1 })
      expectError(await list(client), 404, "session-not-found")
      expect((await client.get("/api/v1/export")).text).not.toContain("planted")
      expect((await client.get("/api/v1/storage")).body).toMatchObject({ stored_bytes: 0 })
    })
  })
}
