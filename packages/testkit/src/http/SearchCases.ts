/** Searching what events carry. */
import { expect } from "vitest"
import type { Client } from "../HttpClient.ts"
import type { Cases } from "./Cases.ts"
import { event, expectInvalid, iso8601 } from "./Requests.ts"

type Query = Readonly<Record<string, string | number>>

interface Found {
  readonly event_id: string
  readonly session: string
  readonly role: string
  readonly at: string
  readonly snippet: string
  readonly hit_start: number
  readonly hit_end: number
}

const pathOf = (query: Query) =>
  `/api/v1/search?${Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&")}`

/** All results, page by page. */
const all = async (client: Client, query: Query): Promise<ReadonlyArray<Found>> => {
  const results: Array<Found> = []
  let cursor: string | null = null
  do {
    const { body, status }: { body: any; status: number } = await client.get(
      pathOf(cursor === null ? query : { ...query, cursor })
    )
    expect([status, Object.keys(body)]).toEqual([200, ["results", "damaged_events", "next_cursor"]])
    expect(body.damaged_events).toBe(0)
    results.push(...body.results)
    cursor = body.next_cursor
  } while (cursor !== null)
  return results
}

const hitOf = ({ hit_end, hit_start, snippet }: Found): string => Array.from(snippet).slice(hit_start, hit_end).join("")

const user = (content: unknown) => ({ role: "user", content })

/** Longer than what is stored once per session, and than what is stored once per project. */
const lengths = [1, 300, 9_000]

export const define = ({ describe, fixture, it }: Cases) => {
  const inProject = async (project: string) => {
    const { as, issue } = fixture()
    const client = as((await issue({ scopes: ["admin"], project: `search ${project}` })).key)
    const { body } = await client.put("/api/v1/fingerprints", { language: "l", language_version: "v", system: "s" })
    const fingerprintId: string = body.fingerprint_id
    const record = async (fields: Record<string, unknown>, inputs: unknown, output: unknown, api?: string) => {
      const properties = { api: api ?? "provider1-chat-completions", inputs, output }
      const created = await client.post("/api/v1/events", event(fingerprintId, { ...fields, properties }))
      expect([created.status, created.text]).toEqual([200, created.text])
      return created.body.event_id as string
    }
    /** Records a chat completion. */
    const say = (fields: Record<string, unknown>, messages: ReadonlyArray<unknown>, answer: unknown = "Fine") =>
      record(
        { session: "s", ...fields },
        { messages },
        { choices: [{ message: { role: "assistant", content: answer } }] }
      )
    return { client, fingerprintId, record, say }
  }

  describe("Search", () => {
    it("finds each text once, with the call that first carried it, the newest first", async () => {
      const { client, say } = await inProject("once")
      const filler = (length: number) => "filler ".repeat(length)
      for (const length of lengths) {
        const session = `of ${length}`
        const said = [user(`Where is the grün${length} lorry? ${filler(length)}`)]
        const answer = `The GRÜN${length} lorry is in Ulm. ${filler(length)}`
        const first = await say({ session }, said, answer)
        const second = await say({ session }, [...said, { role: "assistant", content: answer }, user("Thanks")])
        const third = await say({ session }, [...said, user(`And the other grün${length} one?`)], "Also")
        const found = await all(client, { q: `grün${length}`, session })
        expect(found.map(({ event_id, role }) => [event_id, role])).toEqual([
          [third, "user"],
          [first, "assistant"],
          [first, "user"]
        ])
        expect(found.map(hitOf)).toEqual([`grün${length}`, `GRÜN${length}`, `grün${length}`])
        expect(found[2]).toEqual({
          event_id: first,
          session,
          role: "user",
          at: expect.stringMatching(iso8601),
          snippet: expect.stringMatching(/^Where is the grün/),
          hit_start: 13,
          hit_end: 17 + String(length).length
        })
        expect((await all(client, { q: "thanks", session })).map(({ event_id }) => event_id)).toEqual([second])
      }
    })

    it("searches calls that hold other arrays of messages", async () => {
      const { client, record } = await inProject("arrays")
      const inputs = [
        { messages: [user("one")], x: { messages: [user("other")] } },
        { x: [[user("two")], [user("other")]], messages: [user("one")] }
      ]
      for (const each of inputs)
        for (const answer of ["one", "two"]) {
          await record({}, each, { choices: [{ message: { role: "assistant", content: `answer ${answer}` } }] })
        }
      // `all` expects that no event is damaged.
      const found = await all(client, { q: "answer" })
      expect(found.map(({ snippet }) => snippet)).toEqual(["answer two", "answer one"])
    })

    it("says when a call took place", async () => {
      const { client, say } = await inProject("at")
      await say({ occurred_at: "2026-01-02T03:04:05Z" }, [user("once upon a time")])
      expect((await all(client, { q: "upon" }))[0]!.at).toBe("2026-01-02T03:04:05.000Z")
    })

    const escaped = [
      'say "hi"',
      "two\nlines",
      "a\ttab",
      "back\\slash",
      "and/or",
      "<b>&'+`",
      "\u0001",
      "é\u0301",
      "😀 😃",
      "日本語",
      "\u007f"
    ]
    it.each(escaped, { tags: ["text"] })("finds %j however JSON writes it", async (text) => {
      const { client, fingerprintId } = await inProject("escapes")
      const said = `before ${text} after`
      const plain = JSON.stringify(said)
      const ascii = plain.replaceAll(/[^ -~]|[<>&'+`/]/g, (unit) =>
        unit.codePointAt(0)! < 128 && /["\\]/.test(unit)
          ? unit
          : `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
      )
      const everything = `"${Array.from({ length: said.length }, (_, at) => `\\u${said.charCodeAt(at).toString(16).toUpperCase().padStart(4, "0")}`).join("")}"`
      const ids: Array<string> = []
      for (const [index, written] of [plain, ascii, everything, plain.replaceAll("/", "\\/")].entries()) {
        for (const nested of [false, true]) {
          const inputs = nested
            ? `{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${JSON.stringify(`{"of":${written}}`)}}}]}]}`
            : `{"messages":[{"role":"user","content":${written}}]}`
          const sent = `{"event_name":"llm","properties":{"api":"provider1-chat-completions","inputs":${inputs},"output":{}},"fingerprint_id":"${fingerprintId}","session":"${text.length} ${index} ${nested}"}`
          const created = await client.post("/api/v1/events", sent)
          expect(created.status, created.text).toBe(200)
          ids.unshift(created.body.event_id)
        }
      }
      const found = await all(client, { q: text })
      expect(found.map(({ event_id }) => event_id)).toEqual(ids)
      for (const each of found) expect([each.snippet, hitOf(each)]).toEqual([said, text])
    })

    it("takes upper and lower case as alike, unless asked otherwise", { tags: ["text"] }, async () => {
      const { client, say } = await inProject("case")
      const texts = [
        "STRAẞE",
        "straße",
        "strasse",
        "ΟΔΥΣΣΕΥΣ",
        "Οδυσσευς",
        "İstanbul",
        "istanbul",
        "Жук",
        "жУК",
        "ﬀ",
        "FF",
        "K",
        "\u212a"
      ]
      for (const [index, text] of texts.entries()) await say({ session: `s${index}` }, [user(text)])
      const of = async (query: Query) => (await all(client, query)).map(({ snippet }) => snippet).toReversed()
      expect(await of({ q: "Straße" })).toEqual(["STRAẞE", "straße"])
      expect(await of({ q: "straße", case: "sensitive" })).toEqual(["straße"])
      expect(await of({ q: "strasse" })).toEqual(["strasse"])
      expect(await of({ q: "οδυσσευσ" })).toEqual(["ΟΔΥΣΣΕΥΣ", "Οδυσσευς"])
      expect(await of({ q: "istanbul" })).toEqual(["istanbul"])
      expect(await of({ q: "İSTANBUL" })).toEqual(["İstanbul"])
      expect(await of({ q: "ЖУК" })).toEqual(["Жук", "жУК"])
      expect(await of({ q: "ff" })).toEqual(["FF"])
      expect(await of({ q: "k" })).toEqual(["K", "\u212a"])
      expect(await of({ q: "K", case: "sensitive" })).toEqual(["K"])
    })

    it("finds arguments and results of tools as the text that they stand for", { tags: ["text"] }, async () => {
      const { client, record, say } = await inProject("tools")
      const call = (args: string) => ({
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "pay", arguments: args } }]
      })
      const args = JSON.stringify({ order_id: 4711, note: 'he said "now"\nthen left', deep: [{ at: ["there"] }] })
      const first = await say({}, [
        user("pay"),
        call(args),
        { role: "tool", tool_call_id: "c", content: '{"state":"it\\tdid \\"work\\""}' }
      ])
      const blocks = [
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "t", name: "pay", input: { order_id: 4712, note: "in an\nobject" } }]
        },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "all\ndone" }] }]
        }
      ]
      const inputs = { system: "Pay with care.", messages: blocks }
      const second = await record(
        { session: "t" },
        inputs,
        { role: "assistant", content: [{ type: "text", text: "Paid" }] },
        "provider2-messages"
      )
      for (const [q, id, role] of [
        ["4711", first, "assistant"],
        ['said "now"\nthen', first, "assistant"],
        ["there", first, "assistant"],
        ["order_id", first, "assistant"],
        ['did "work"', first, "tool"],
        ['"state":"it', first, "tool"],
        ["4712", second, "assistant"],
        ["an\nobject", second, "assistant"],
        ["all\nd", second, "tool"],
        ["with care", second, "system"],
        ["paid", second, "assistant"]
      ] as const) {
        const found = (await all(client, { q, role: "any" })).filter(({ event_id }) => event_id === id)
        expect([q, found.map(hitOf)]).toEqual([q, [expect.stringMatching(/./)]])
        expect([q, found[0]!.role]).toEqual([q, role])
      }
      // Neither the names of tools and of fields, nor settings.
      for (const q of ["tool_calls", "tool_use_id", "function"]) expect(await all(client, { q })).toEqual([])
    })

    it("finds what a role said, and instructions only where they are asked for", { tags: ["text"] }, async () => {
      const { client, record, say } = await inProject("roles")
      const parts = (text: string) => [{ text }]
      const reminder = "<system-reminder>\nBe kind: a refund is no loss.\n</system-reminder>\n"
      await say({ session: "chat" }, [
        { role: "developer", content: "Never offer a refund" },
        user("I want a refund"),
        { role: "assistant", content: "A refund?" },
        { role: "system", content: "A refund is due now" },
        { role: "tool", tool_call_id: "c", content: "refund made" }
      ])
      await record(
        { session: "claude" },
        {
          system: "Offer a refund",
          messages: [
            {
              role: "user",
              content: [
                { type: "text", text: reminder },
                { type: "text", text: "my refund, please" }
              ]
            },
            { role: "assistant", content: [{ type: "tool_use", id: "t", name: "pay", input: { what: "refund" } }] },
            { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "refund paid" }] },
            user("<order>refund of an application's own element</order>")
          ]
        },
        { role: "assistant", content: [{ type: "text", text: "The refund is paid" }] },
        "provider2-messages"
      )
      await record(
        { session: "google" },
        {
          systemInstruction: { parts: parts("refund late") },
          contents: [{ role: "user", parts: parts("refund now") }]
        },
        { candidates: [{ content: { role: "model", parts: parts("refund soon") } }] },
        "provider3-models"
      )
      const of = async (role?: string) =>
        (await all(client, { q: "refund", ...(role && { role }) })).map(({ role, snippet }) => `${role}: ${snippet}`)
      const people = [
        "user: refund now",
        "user: <order>refund of an application's own element</order>",
        "user: my refund, please",
        "user: I want a refund"
      ]
      expect(await of("user")).toEqual(people)
      expect(await of("tool")).toEqual(["tool: refund paid", "tool: refund made"])
      const assistants = [
        "assistant: refund soon",
        "assistant: The refund is paid",
        "assistant: refund",
        "assistant: A refund?"
      ]
      expect(await of("assistant")).toEqual(assistants)
      const instructions = [
        "system: refund late",
        `system: ${reminder}`,
        "system: Offer a refund",
        "system: A refund is due now",
        "developer: Never offer a refund"
      ]
      expect(await of("system")).toEqual(instructions)
      expect((await of()).toSorted()).toEqual(
        [...people, ...assistants, "tool: refund paid", "tool: refund made"].toSorted()
      )
      expect((await of("user,tool")).toSorted()).toEqual(
        [...people, "tool: refund paid", "tool: refund made"].toSorted()
      )
      expect((await of("any")).toSorted()).toEqual([...(await of()), ...instructions].toSorted())
      // Said by another role before, it is said by this one for the first time.
      await say({ session: "twice" }, [{ role: "assistant", content: "twofold" }])
      const id = await say({ session: "twice" }, [{ role: "assistant", content: "twofold" }, user("twofold")])
      const twice = await all(client, { q: "twofold", role: "user", session: "twice" })
      expect(twice.map(({ event_id }) => event_id)).toEqual([id])
      for (const role of ["", "human", "user,", "user,user", "any,user", "User"]) {
        expectInvalid(await client.get(pathOf({ q: "x", role })), "value_error", "query", "role")
      }
    })

    it("counts hits by session, the newest of each first, in pages that add up", async () => {
      const { client, say } = await inProject("sessions")
      for (let n = 0; n < 9; n++) {
        const more = n % 3 === 0 ? [user(`needle ${n} again`)] : []
        await say({ session: `s${n % 4}` }, [user(`needle ${n}`), ...more])
      }
      const results = await all(client, { q: "needle" })
      const expected = Array.from(Map.groupBy(results, ({ session }) => session).values(), (hits) => ({
        ...hits[0]!,
        hits: hits.length
      }))
      expect(expected.map(({ hits, session }) => [session, hits])).toEqual([
        ["s0", 4],
        ["s3", 3],
        ["s2", 3],
        ["s1", 2]
      ])
      const path = (query: Query) => pathOf(query).replace("/search?", "/search/sessions?")
      const whole = (await client.get(path({ q: "needle" }))).body
      expect(whole).toEqual({ sessions: expected, damaged_events: 0, next_cursor: null })
      for (const limit of [1, 2, 3]) {
        const found = new Map<string, any>()
        for (let cursor: string | null = ""; cursor !== null;) {
          const { body }: { body: any } = await client.get(path({ q: "needle", limit, ...(cursor && { cursor }) }))
          expect(body.sessions.length).toBeLessThanOrEqual(limit)
          for (const row of body.sessions) {
            const known = found.get(row.session)
            found.set(row.session, known === undefined ? row : { ...known, hits: known.hits + row.hits })
          }
          cursor = body.next_cursor
        }
        expect([limit, [...found.values()]]).toEqual([limit, expected])
      }
      const accept = { accept: "application/x-ndjson" }
      const lines = async (query: Query) =>
        (await client.call("GET", path(query), undefined, accept)).text
          .slice(0, -1)
          .split("\n")
          .map((line) => JSON.parse(line))
      expect(await lines({ q: "needle" })).toEqual([...expected, { damaged_events: 0, next_cursor: null }])
      const [first, progress, ...none] = await lines({ q: "needle", limit: 1 })
      expect([first.session, first.hits, none]).toEqual(["s0", 1, []])
      const [next] = await lines({ q: "needle", limit: 1, cursor: progress.next_cursor })
      expect(next.session).toBe("s3")
      expect((await client.get(path({ q: "needle", role: "tool" }))).body.sessions).toEqual([])
      expectInvalid(await client.get(path({ q: "" })), "string_too_short", "query", "q")
    })

    it("finds in the events of a filter, in pages that lose and repeat nothing", async () => {
      const { client, say } = await inProject("filters")
      const ids: Array<string> = []
      for (let n = 0; n < 8; n++) {
        const names = { session: `s${n % 3}`, agent: `a${n % 2}`, ...(n % 4 === 0 ? { person: "p" } : {}) }
        ids.unshift(await say(names, [user(`needle ${n} one`), user(`needle ${n} two`)], `needle ${n} three`))
      }
      const whole = await all(client, { q: "needle" })
      expect(whole.map(({ event_id }) => event_id)).toEqual(ids.flatMap((id) => [id, id, id]))
      for (const limit of [1, 2, 5]) expect(await all(client, { q: "needle", limit })).toEqual(whole)
      const { events } = (await client.get("/api/v1/events?order=desc")).body
      for (const filter of [{ session: "s1" }, { agent: "a1" }, { person: "p" }, { agent: "a0", session: "s2" }]) {
        const wanted = new Set(
          events
            .filter((each: any) => Object.entries(filter).every(([name, value]) => each[name] === value))
            .map(({ event_id }: any) => event_id)
        )
        const expected = whole.filter(({ event_id }) => wanted.has(event_id))
        expect(expected.length).toBeGreaterThan(0)
        expect(await all(client, { q: "needle", limit: 4, ...filter })).toEqual(expected)
      }
      expect(await all(client, { q: "needle", api: "aisdk" })).toEqual([])
      expect(await all(client, { q: "needle", error: "false" })).toEqual(whole)
      expect(await all(client, { q: "needle", session: "none" })).toEqual([])
      const middle = events[5].received_at
      expect((await all(client, { q: "needle", after: middle })).length).toBeLessThanOrEqual(21)
      expect(await all(client, { q: "needle", before: "2000-01-01T00:00:00Z" })).toEqual([])
      expect(await all(await inProject("elsewhere").then((other) => other.client), { q: "needle" })).toEqual([])
    })

    it("answers lines as it finds, where they are asked for", { tags: ["adapter"] }, async () => {
      const { client, say } = await inProject("lines")
      for (let n = 0; n < 7; n++) await say({ session: `s${n % 2}` }, [user(`needle\n${n}`)])
      const lines = async (query: Query) => {
        const answer = await client.call("GET", pathOf(query), undefined, { accept: "application/x-ndjson" })
        expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/x-ndjson"])
        expect(answer.text.endsWith("\n")).toBe(true)
        const parsed = answer.text
          .slice(0, -1)
          .split("\n")
          .map((line) => JSON.parse(line))
        const results = parsed.filter((line) => "event_id" in line)
        const progress = parsed.filter((line) => "next_cursor" in line)
        expect(results.length + progress.length).toBe(parsed.length)
        expect(progress.every(({ damaged_events }) => damaged_events === 0)).toBe(true)
        return { results, last: parsed.at(-1).next_cursor as string | null }
      }
      const whole = await all(client, { q: "needle" })
      expect(whole.length).toBe(7)
      expect(await lines({ q: "needle" })).toEqual({ results: whole, last: null })
      const first = await lines({ q: "needle", limit: 3 })
      expect(first.results).toEqual(whole.slice(0, 3))
      const rest = await lines({ q: "needle", cursor: first.last! })
      expect(rest).toEqual({ results: whole.slice(3), last: null })
      expect(await lines({ q: "no such text" })).toEqual({ results: [], last: null })
      const invalid = await client.call("GET", pathOf({ q: "" }), undefined, { accept: "application/x-ndjson" })
      expectInvalid(invalid, "string_too_short", "query", "q")
    })

    it("never finds what was erased, and still finds what remains of it", async () => {
      const { client, say } = await inProject("erasure")
      const shared = `A shared plan. ${"planted ".repeat(2_000)}`
      const [own, kept] = [user("planted by one who leaves"), user("planted, and sent again by another")]
      await say({ session: "e", person: "leaving" }, [own, kept, user(shared)], "planted answer")
      const next = await say({ session: "e", person: "staying" }, [kept, user("more")])
      await say({ session: "f", person: "leaving" }, [user(`${shared} alone`)])
      expect((await all(client, { q: "planted" })).length).toBe(5)
      expect((await client.call("DELETE", "/api/v1/people/leaving")).status).toBe(200)
      const found = await all(client, { q: "planted" })
      expect(found.map(({ event_id, role, snippet }) => [event_id, role, snippet])).toEqual([
        [next, "user", kept.content]
      ])
      expect((await client.call("DELETE", "/api/v1/sessions/e")).status).toBe(200)
      expect(await all(client, { q: "planted" })).toEqual([])
    })

    it("takes any text, and refuses none but an empty and a very long one", async () => {
      const { client, say } = await inProject("hostile")
      const texts = [
        ".*",
        "(a+)+$",
        "[",
        "\\",
        "\\\\",
        "%",
        "_",
        "' OR 1=1 --",
        "\u0000",
        "\ufffd",
        "$&",
        "x".repeat(1_000),
        "😀".repeat(500)
      ]
      for (const text of texts) await say({ session: text.replace("\0", "0").slice(0, 100) }, [user(`(${text})`)])
      for (const q of texts)
        expect([q, (await all(client, { q })).map(hitOf)]).toEqual([q, expect.arrayContaining([q])])
      expect((await all(client, { q: ".*" })).length).toBe(1)
      // UTF-8 cannot hold a lone surrogate.
      expect((await client.get("/api/v1/search?q=%ED%A0%80")).status).toBe(200)
      expect((await client.get("/api/v1/search?q=%")).status).toBe(200)
      expectInvalid(await client.get("/api/v1/search"), "missing", "query", "q")
      expectInvalid(await client.get("/api/v1/search?q="), "string_too_short", "query", "q")
      expectInvalid(await client.get(pathOf({ q: "x".repeat(1_001) })), "string_too_long", "query", "q")
      expectInvalid(await client.get(pathOf({ q: "x".repeat(10_000) })), "string_too_long", "query", "q")
      expectInvalid(await client.get(pathOf({ q: "x", case: "no" })), "literal_error", "query", "case")
      expectInvalid(await client.get(pathOf({ q: "x", order: "asc" })), "extra_forbidden", "query", "order")
      expectInvalid(await client.get(pathOf({ q: "x", limit: 0 })), "greater_than_equal", "query", "limit")
      for (const cursor of ["", "x", "c1_1", `c1_${"0".repeat(32)}_`, `c1_${"0".repeat(32)}_ffffffff`]) {
        expectInvalid(await client.get(pathOf({ q: "x", cursor })), "value_error", "query", "cursor")
      }
      expect((await client.get(pathOf({ q: "x", cursor: `c1_${"f".repeat(32)}_7fffffff` }))).status).toBe(200)
    })
  })
}
