/** What an import takes, answers and refuses. */
import { randomBytes } from "node:crypto"
import { gzipSync } from "node:zlib"
import { expect } from "vitest"
import type { Client } from "../HttpClient.ts"
import * as TestSeed from "../TestSeed.ts"
import type { Cases } from "./Cases.ts"
import { event, expectError, expectInvalid } from "./Requests.ts"

type Line = Record<string, any>

const ndjson = { "content-type": "application/x-ndjson" }

const linesIn = (text: string) => text.split("\n").slice(0, -1)

const importInto = async (
  client: Client,
  body: string | Uint8Array,
  query = "",
  headers: Record<string, string> = {}
) => {
  const { status, text } = await client.call("POST", `/api/v1/import${query}`, body, { ...ndjson, ...headers })
  expect(status).toBe(200)
  const answers = linesIn(text).map((line) => JSON.parse(line) as Line)
  return { answers: answers.slice(0, -1), end: answers.at(-1)! }
}

const exportOf = async (client: Client) => (await client.get("/api/v1/export")).text

/** The last line of a type. */
const lineOf = (text: string, type: string) =>
  JSON.parse(linesIn(text).findLast((line) => line.startsWith(`{"type":"${type}"`))!) as Line

const resultsOf = (answers: ReadonlyArray<Line>) => answers.map(({ result }) => result)

export const define = ({ describe, fixture, it }: Cases) => {
  const inProject = async (project: string) => {
    const { as, issue } = fixture()
    return as((await issue({ scopes: ["admin"], project })).key)
  }

  /** An export with one of everything, and what its payloads can be. */
  const sample = async (project: string) => {
    const client = await inProject(project)
    const { body } = await client.put("/api/v1/fingerprints", { language: "l", language_version: "1", system: "s" })
    await client.put("/api/v1/agents", { agent_name: "a", description: "é\n" })
    await client.put("/api/v1/agents/a/agent-versions", { agent_version_name: "v", description: "old" })
    await client.post("/api/v1/agents/a/agent-versions/v/deprecate", undefined)
    await client.put("/api/v1/people", '{"person_id":"p","properties":{ "n": 1.0,\n"n":2}}')
    const record = async (properties: string, rest: object = {}) => {
      const fields = JSON.stringify(event(body.fingerprint_id, { properties: 0, agent: "a", ...rest }))
      const text = fields.replace('"properties":0', () => `"properties":${properties}`)
      expect((await client.post("/api/v1/events", text)).status).toBe(200)
    }
    await record('{"api":"aisdk","inputs":{"b":1.0,"a":9007199254740993,"a":"\\ud800"},"output":{ }}', { person: "p" })
    await record('{"api":"openai-responses","inputs":{\r\n "x": [1 ,2]},"output":{\n}}', { metadata: { k: 1 } })
    await record('{"api":"aisdk","inputs":{},"output":{}}', {
      agent_version: "v",
      duration_ms: 0.5,
      trace_id: "1".repeat(32),
      recorded: { redacted: 1, "9": [{}], "\u0000": 2 }
    })
    return { client, text: await exportOf(client) }
  }

  describe("Import", () => {
    it("takes what was exported, so that another export is the same, and again", { tags: ["adapter"] }, async () => {
      const { text } = await sample("import from")
      const other = await inProject("import to")
      const first = await importInto(other, text)
      expect(new Set(resultsOf(first.answers))).toEqual(new Set(["ignored", "imported"]))
      expect(first.answers.map(({ line }) => line)).toEqual(first.answers.map((_, index) => index + 1))
      expect(first.end).toEqual({ type: "end", lines: 10, imported: 8, exists: 0, kept: 0, ignored: 2, failed: 0 })
      expect(await exportOf(other)).toBe(text)
      const again = await importInto(other, gzipSync(text), "?answers=failed", { "content-encoding": "gzip" })
      expect(again.answers).toEqual([])
      expect(again.end).toEqual({ ...first.end, imported: 0, exists: 8 })
      expect(await exportOf(other)).toBe(text)
    })

    it("takes each line with a byte order mark, and with its type in escapes", async () => {
      const { text } = await sample("import marked from")
      const other = await inProject("import marked to")
      const written = linesIn(text).map((line, n) =>
        n % 2 === 0 ? `\ufeff${line}\r\n` : `${line.replace('"type"', '"t\\u0079pe"')}\n`
      )
      const { answers, end } = await importInto(other, written.join(""))
      expect(answers.filter(({ result }) => result === "failed")).toEqual([])
      expect(end).toMatchObject({ imported: 8, ignored: 2, failed: 0 })
      expect(await exportOf(other)).toBe(text)
    })

    it("skips empty lines, which count", async () => {
      const client = await inProject("import empty lines")
      const { answers, end } = await importInto(client, `\n\n{"type":"end"}\n\r\n\n\n{"type":"end"}\n\n`)
      expect(answers.map(({ line }) => line)).toEqual([3, 7])
      expect(end).toMatchObject({ lines: 2, ignored: 2 })
    })

    it("reads facts anew, and lets events be recorded afterwards", async () => {
      const { client, text } = await sample("import facts")
      const other = await inProject("import facts to")
      await importInto(other, text)
      const listed = async (client: Client) => (await client.get("/api/v1/events")).body.events
      expect(await listed(other)).toEqual(await listed(client))
      const { fingerprint_id } = lineOf(text, "fingerprint")
      expect((await other.post("/api/v1/events", event(fingerprint_id, { session: "s1", agent: "a" }))).status).toBe(
        200
      )
      expect(await listed(other)).toHaveLength(4)
    })

    it("keeps apart what was put and what only events have named", async () => {
      const client = await inProject("import named from")
      const { body } = await client.put("/api/v1/fingerprints", { language: "l", language_version: "1", system: "s" })
      const sent = event(body.fingerprint_id, { agent: "a", agent_version: "v", person: "p" })
      expect((await client.post("/api/v1/events", sent)).status).toBe(200)
      const text = await exportOf(client)
      const [agent, version, person] = ["agent", "agent-version", "person"].map((type) => lineOf(text, type))
      expect(agent).toEqual({ type: "agent", agent_name: "a", created_at: agent!.created_at })
      expect(Object.keys(version!)).not.toContain("description")
      expect(Object.keys(person!)).not.toContain("properties")
      const other = await inProject("import named to")
      expect((await importInto(other, text)).end).toMatchObject({ imported: 5, failed: 0 })
      expect((await importInto(other, text)).end).toMatchObject({ imported: 0, exists: 5 })
      expect(await exportOf(other)).toBe(text)
      // There as here, the first PUT decides; or the first line of one.
      const put = await other.put("/api/v1/agents", { agent_name: "a", description: "what it does" })
      expect(put.body.description).toBe("what it does")
      const lines = [
        { ...agent, description: "late" },
        { ...version, description: null },
        { ...person, properties: { a: 1 } }
      ]
      const given = lines.map((line) => `${JSON.stringify(line)}\n`).join("")
      expect(resultsOf((await importInto(other, given)).answers)).toEqual(["kept", "imported", "imported"])
      expect(resultsOf((await importInto(other, given)).answers)).toEqual(["kept", "exists", "exists"])
      expect(resultsOf((await importInto(other, text)).answers).slice(1, 4)).toEqual(["kept", "kept", "kept"])
      expect((await other.get("/api/v1/people/p")).body.properties).toEqual({ a: 1 })
      expect(lineOf(await exportOf(other), "agent-version").description).toBeNull()
    })

    it("changes nothing that exists", async () => {
      const { client, text } = await sample("import kept")
      const [agent, version, person] = ["agent", "agent-version", "person"].map((type) => lineOf(text, type))
      const fingerprint = lineOf(text, "fingerprint")
      const own = lineOf(text, "event")
      const lines = [
        { ...agent, description: "another" },
        { ...version, created_at: "2020-01-01T00:00:00Z" },
        { ...person, properties: {}, properties_text: undefined },
        { ...fingerprint, created_at: "2020-01-01T00:00:00Z" },
        { ...fingerprint, language: "another" },
        { ...own, properties: { api: "aisdk", inputs: { x: 1 }, output: {} }, checksum: undefined },
        { ...own, person: "another" }
      ]
      const { answers } = await importInto(client, lines.map((line) => JSON.stringify(line)).join("\r\n"))
      expect(resultsOf(answers)).toEqual(["kept", "kept", "kept", "kept", "failed", "failed", "failed"])
      const types = answers.slice(4).map(({ error }) => error.type)
      expect(types).toEqual(["fingerprint-id-taken", "event-id-taken", "event-id-taken"])
      expect(await exportOf(client)).toBe(text)
    })

    it("deprecates a version that exists", async () => {
      const client = await inProject("import deprecated")
      await client.put("/api/v1/agents", { agent_name: "a" })
      await client.put("/api/v1/agents/a/agent-versions", { agent_version_name: "v" })
      const version = { ...lineOf(await exportOf(client), "agent-version"), deprecated_at: "2026-01-01T00:00:00.000Z" }
      const line = `${JSON.stringify(version)}\n`
      expect(resultsOf((await importInto(client, line + line)).answers)).toEqual(["imported", "exists"])
      expect(lineOf(await exportOf(client), "agent-version")).toEqual(version)
    })

    it("answers what is wrong with a line, and takes the others", async () => {
      const { text } = await sample("import wrong")
      const client = await inProject("import wrong to")
      const own = lineOf(text, "event")
      const last = linesIn(text)
        .filter((line) => line.startsWith('{"type":"event"'))
        .at(-1)!
      const wrong: ReadonlyArray<readonly [line: string | Line, ...error: ReadonlyArray<string>]> = [
        [{ ...own, session: "elsewhere" }, "event-id-invalid"],
        [{ ...own, event_id: own["event_id"].replace(/^......../, "ffffffff") }, "event-id-invalid"],
        [{ ...own, event_id: own["event_id"].replace(/(?<=^.{14})7/, "4") }, "event-id-invalid"],
        [{ ...own, event_id: "x" }, "uuid_parsing", "event_id"],
        [{ ...own, checksum: "00000000" }, "checksum-differs"],
        [{ ...own, checksum: "x" }, "value_error", "checksum"],
        [{ ...own, fingerprint_id: own["event_id"] }, "fingerprint-not-found"],
        [{ ...own, received_at: undefined }, "missing", "received_at"],
        [
          { ...own, properties: { api: "aisdk", output: {}, inputs_text: '{},"output":{}' } },
          "missing",
          "properties",
          "inputs"
        ],
        [
          { type: "agent-version", agent_name: "nobody", agent_version_name: "v", created_at: own["received_at"] },
          "agent-not-found"
        ],
        [
          { type: "person", person_id: "p", properties_text: "[]", created_at: own["received_at"] },
          "dict_type",
          "properties_text"
        ],
        [{ type: "other" }, "enum", "type"],
        // A format of a later version.
        [{ type: "export", format: 2 }, "enum", "format"],
        [{ ...own, properties: { api: "aisdk-2", inputs: {}, output: {} } }, "enum", "properties", "api"],
        ["{", "json_invalid", "1"],
        [`{"type":"event","session":"x"`, "json_invalid", "29"],
        ["null", "missing"],
        [`{"type":"agent","agent_name":"${"x".repeat(3 * fixture().maxBody)}"}`, "payload-too-large"]
      ]
      const setup = linesIn(text).filter((line) => /^\{"type":"(?:agent|person|fingerprint)/.test(line))
      const lines = wrong.map(([line]) => (typeof line === "string" ? line : JSON.stringify(line)))
      const { answers, end } = await importInto(client, [...setup, ...lines, last].join("\n"), "?answers=failed")
      expect(
        answers.map(({ error: { detail, type }, line }) => [
          line,
          ...(type === undefined ? [detail[0].type, ...detail[0].loc.slice(1)] : [type])
        ])
      ).toEqual(wrong.map(([, ...error], index) => [setup.length + index + 1, ...error]))
      expect(end).toMatchObject({ imported: setup.length + 1, failed: wrong.length })
      const rest = linesIn(await exportOf(client)).slice(1, -1)
      expect(rest).toEqual([...setup, last])
    })

    it("takes other lines than events up to twice the limit of a body, and answers longer ones", async () => {
      const client = await inProject("import long lines")
      const maxBytes = 2 * fixture().maxOtherBody + 64 * 1024
      const personOf = (id: string, bytes: number) => {
        const start = `{"type":"person","person_id":"${id}","created_at":"2026-01-02T03:04:05Z","properties":{"a":"`
        return `${start}${"x".repeat(bytes - start.length - 3)}"}}`
      }
      const nested = `{"type":[${"[],".repeat(maxBytes / 3)}[]]}`
      const { answers, end } = await importInto(
        client,
        [personOf("longest", maxBytes), personOf("longer", maxBytes + 1), nested].join("\n")
      )
      expect(answers.map(({ error, result, type }) => [type, result, error?.type])).toEqual([
        ["person", "imported", undefined],
        ["person", "failed", "payload-too-large"],
        [null, "failed", "payload-too-large"]
      ])
      expect(end).toMatchObject({ imported: 1, failed: 2 })
    })

    it("keeps nothing of a damaged line, whatever is damaged", async () => {
      const { text } = await sample("import fuzz")
      const lines = linesIn(text)
      let state = TestSeed.seed
      const random = (below: number) => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
        return Math.floor((state / 2 ** 32) * below)
      }
      const damages: ReadonlyArray<(line: Buffer) => Buffer> = [
        (line) => line.subarray(0, random(line.length)),
        (line) => (line.writeUInt8(random(256), random(line.length)), line),
        (line) => Buffer.concat([line, line.subarray(random(line.length))]),
        (line) => Buffer.concat([line.subarray(0, random(line.length)), line.subarray(random(line.length))]),
        (line) => Buffer.from(line.toString("latin1").replace(/"[^"]*"/, '"\\u0000"'), "latin1")
      ]
      const damaged = Array.from({ length: 400 }, () => {
        const line = Buffer.from(lines[random(lines.length)]!)
        return damages[random(damages.length)]!(line)
      })
      const client = await inProject("import fuzz to")
      const body = Buffer.concat(damaged.flatMap((line) => [line, Buffer.from("\n")]))
      const { answers, end } = await importInto(client, Buffer.concat([body, Buffer.from(text)]))
      const results = ["imported", "exists", "kept", "ignored", "failed"]
      expect(resultsOf(answers).filter((result) => !results.includes(result))).toEqual([])

      for (const { error } of answers)
        if (error !== undefined) expect(["internal", undefined]).not.toContain(error.type ?? "detail")
      expect(end["failed"]).toBeGreaterThan(100)
      // Every event that is there is whole: those of the sample, and what a damage has left valid.
      const events = linesIn(await exportOf(client)).filter((line) => line.startsWith('{"type":"event"'))
      expect(events.length).toBeGreaterThanOrEqual(3)
      expect((await importInto(client, events.join("\n"))).end).toMatchObject({ exists: events.length, failed: 0 })
    })

    it("says how far it came where a body cannot be read to its end, and goes on", async () => {
      const { text } = await sample("import cut")
      const client = await inProject("import cut to")
      const filler = Array.from(
        { length: 400 },
        () => `{"type":"more","filler":"${randomBytes(300).toString("hex")}"}\n`
      )
      const both = [text, ...filler, text].join("")
      const lines = linesIn(both)
      const whole = gzipSync(both)
      const byThen = new Map<number, string>()
      for (const cut of [0.3, 0.6, 0.95]) {
        const part = whole.subarray(0, Math.floor(cut * whole.length))
        const { answers, end } = await importInto(client, part, "", { "content-encoding": "gzip" })
        const { length } = answers
        expect(end).toMatchObject({ type: "cut", after_line: length, lines: length, failed: 0 })
        expect(length).toBeLessThan(lines.length)
        byThen.set(length, await exportOf(client))
      }
      expect(Math.max(...byThen.keys())).toBeGreaterThan(linesIn(text).length)
      for (const [length, exported] of byThen) if (length > linesIn(text).length) expect(exported).toBe(text)
      const inChecksum = whole.length - 6
      const damaged = [
        Buffer.concat([whole, whole.subarray(0, 9)]),
        Buffer.from(text),
        whole.with(inChecksum, whole[inChecksum]! ^ 1)
      ]
      for (const body of damaged) {
        const { end } = await importInto(client, body, "?answers=failed", { "content-encoding": "gzip" })
        expect(end).toMatchObject({ type: "cut", failed: 0 })
      }
      const { end } = await importInto(client, whole, "?answers=failed", { "content-encoding": "gzip" })
      expect(end).toMatchObject({ type: "end", exists: 16, imported: 0 })
      expect(await exportOf(client)).toBe(text)
    })

    it("refuses what is not lines before it reads them", { tags: ["adapter"] }, async () => {
      const client = await inProject("import refused")
      const call = (query: string, headers: Record<string, string> = {}) =>
        client.call("POST", `/api/v1/import${query}`, "{}", { ...ndjson, ...headers })
      expectInvalid(await call("?answers=none"), "enum", "query", "answers")
      expectInvalid(await call("?x=1"), "extra_forbidden", "query", "x")
      expectError(await call("", { "content-encoding": "x" }), 415, "unsupported-content-encoding")
      const { end } = await importInto(client, "")
      expect(end).toEqual({ type: "end", lines: 0, imported: 0, exists: 0, kept: 0, ignored: 0, failed: 0 })
    })
  })
}
