/** Sessions as messages and calls: each message once, and what each call carried of them. */
import { expect } from "vitest"
import type { Cases } from "./Cases.ts"
import { event, expectError, expectInvalid, iso8601 } from "./Requests.ts"

const said = (role: string, content: string) => ({ role, content })
const user = (content: string) => said("user", content)
const assistant = (content: string) => said("assistant", content)

/** A second of one minute. */
const at = (second: string) => ({ occurred_at: `2026-01-02T03:04:${second}Z` })

export const define = ({ describe, fixture, it }: Cases) => {
  const record = async (session: string, properties: object, fields: object = {}): Promise<string> => {
    const { client, fingerprintId } = fixture()
    const answer = await client.post("/api/v1/events", event(fingerprintId, { session, properties, ...fields }))
    return answer.body.event_id
  }
  const answered = (...contents: ReadonlyArray<string>) => ({
    choices: contents.map((content, index) => ({ index, message: assistant(content), finish_reason: "stop" }))
  })
  /** A chat completion with these messages. */
  const chat = (session: string, messages: ReadonlyArray<object>, output: object, fields: object = {}) =>
    record(session, { api: "provider1-chat-completions", inputs: { model: "m", messages }, output }, fields)
  const get = async (session: string, list: "messages" | "calls", query: Record<string, string> = {}) =>
    (await fixture().client.get(`/api/v1/sessions/${session}/${list}?${new URLSearchParams(query)}`)).body
  const textsOf = (page: any): ReadonlyArray<string> =>
    page.messages.map(({ parts }: any) => parts.map(({ content }: any) => content).join(" "))
  const callsOf = async (session: string) =>
    (await get(session, "calls")).calls.map((call: any) => ({
      parent: call.parent_event_id,
      kept: call.kept_messages,
      new: call.new_messages,
      gone: call.gone_messages,
      output: call.output,
      carried: call.carried
    }))

  const failed = { error: { type: "overloaded_error", message: "busy" } }
  /** Of a call that began after those that were recorded before it. */
  const atOnce = { duration_ms: 0 }
  /** The numbers of the calls that a session's calls are retries of, and of those that tried them again. */
  const retriesOf = async (session: string, query: Record<string, string> = {}) => {
    const { calls } = await get(session, "calls")
    const numberOf = (id: string | null) => calls.findIndex(({ event_id }: any) => event_id === id) + 1
    const listed = (await get(session, "calls", query)).calls
    return listed.map(({ event_id, retried_by, retry_of }: any) => [
      numberOf(event_id),
      numberOf(retry_of),
      numberOf(retried_by)
    ])
  }

  describe("Conversations", () => {
    it("says which call is a retry of one that failed with the same request", async () => {
      const session = "retries"
      const messages = [said("system", "Be short."), user("How far is it?")]
      const later = [...messages, assistant("12 km"), user("And back?")]
      const ask = (messages: ReadonlyArray<object>, output: object) => chat(session, messages, output, atOnce)
      await ask(messages, failed)
      await ask(messages, failed)
      await ask(messages, answered("12 km"))
      // Asked again, but nothing had failed.
      await ask(messages, answered("13 km"))
      await ask(later, failed)
      await ask([user("Something else")], answered("!"))
      await ask(later, answered("12 km"))
      const { calls } = await get(session, "calls")
      expect(calls.map((call: any) => call.error_message)).toEqual(["busy", "busy", null, null, "busy", null, null])
      expect(await retriesOf(session)).toEqual([
        [1, 0, 2],
        [2, 1, 3],
        [3, 2, 0],
        [4, 0, 0],
        [5, 0, 7],
        [6, 0, 0],
        [7, 5, 0]
      ])
      // The one that failed, or its retry, is on another page.
      expect(await retriesOf(session, { order: "desc", limit: "1" })).toEqual([[7, 5, 0]])
      expect(await retriesOf(session, { limit: "1" })).toEqual([[1, 0, 2]])
    })

    it("looks for the retry of a call among the next 16, also behind the page", async () => {
      const asked = [user("How far is it?")]
      const record = async (session: string, others: number) => {
        await chat(session, asked, failed)
        for (let other = 0; other < others; other++) await chat(session, [user(`Other ${other}`)], answered("!"))
        return chat(session, asked, answered("12 km"), atOnce)
      }
      const first = async (session: string) => (await get(session, "calls", { limit: "1" })).calls[0].retried_by
      const near = await record("retried-near", 15)
      await record("retried-far", 16)
      expect([await first("retried-near"), await first("retried-far")]).toEqual([near, null])
      expect((await retriesOf("retried-far")).at(-1)).toEqual([18, 1, 0])
    })

    it("lists the calls of all sessions that were tried again, each with what tried it", async () => {
      const messages = [user("Is it far?")]
      const record = async (session: string, outputs: ReadonlyArray<object>) => {
        const ids: Array<string> = []
        for (const output of outputs) ids.push(await chat(session, messages, output, { agent: "retrier", ...atOnce }))
        return ids
      }
      const [first, second, third] = await record("tried thrice", [failed, failed, answered("No.")])
      await record("given up", [failed])
      await record("went well", [answered("No."), answered("Yes.")])
      const [fourth, fifth] = await record("tried twice", [failed, answered("Yes.")])
      const list = (query: string) => fixture().client.get(`/api/v1/events?agent=retrier&retried=true${query}`)
      const { body } = await list("")
      const retried = (body: any) => body.events.map((event: any) => [event.event_id, event.retried_by])
      expect(retried(body)).toEqual([
        [first, second],
        [second, third],
        [fourth, fifth]
      ])
      expect(body.next_cursor).toBeNull()
      expect(body.events[0].error_type).toBe("overloaded_error")
      // Each page looks at two calls that failed.
      const page = (await list("&order=desc&limit=2")).body
      expect(retried(page)).toEqual([[fourth, fifth]])
      expect(retried((await list(`&order=desc&limit=2&cursor=${page.next_cursor}`)).body)).toEqual([
        [second, third],
        [first, second]
      ])
      expect(
        await Promise.all(["&sort=cost", "&error=false"].map(async (query) => (await list(query)).status))
      ).toEqual([422, 422])
    })

    it.each<[string, object, object]>([
      ["another model", { model: "n" }, {}],
      ["other parameters", { temperature: 0.5 }, {}],
      ["other tools", { tools: [{ type: "function", function: { name: "f" } }] }, {}],
      ["a message more", { messages: [user("How far is it?"), user("Please")] }, {}],
      ["other instructions", { messages: [said("system", "Be long."), user("How far is it?")] }, {}],
      ["the model of the URL", {}, { model: "n" }],
      ["another agent", {}, { agent: "another" }],
      ["another version", {}, { agent_version: "2" }],
      ["another person", {}, { person: "bob" }],
      ["no person", {}, { person: null }],
      ["a start before the failure", {}, { occurred_at: "2026-01-02T03:04:05.500Z" }],
      ["a start more than an hour later", {}, { occurred_at: "2026-01-02T04:04:06.001Z" }]
    ])("takes no call with %s for a retry", async (what, inputs, fields) => {
      const session = `no retry: ${what.replaceAll(" ", "-")}`
      const asked = { ...(what.includes("URL") ? {} : { model: "m" }), messages: [user("How far is it?")] }
      const send = (inputs: object, output: object, fields: object) =>
        record(session, { api: "provider1-chat-completions", inputs, output }, fields)
      const by = { model: "m", agent: "a", agent_version: "1", person: "ann" }
      await send(asked, failed, { ...by, occurred_at: "2026-01-02T03:04:05Z", duration_ms: 1_000 })
      const then = { ...by, occurred_at: "2026-01-02T03:04:06Z" }
      await send({ ...asked, ...inputs }, answered("12 km"), { ...then, ...fields })
      await send(asked, answered("12 km"), then)
      const [, second, third] = await retriesOf(encodeURIComponent(session))
      expect([second, third]).toEqual([
        [2, 0, 0],
        // Of two with the same request, the last one counts.
        [3, Object.keys(inputs).length === 0 ? 0 : 1, 0]
      ])
    })

    it.each<[string, object, object, boolean]>([
      ["an hour after the failure", { ...at("05"), duration_ms: 1_000 }, { occurred_at: "2026-01-02T04:04:06Z" }, true],
      ["some time after one of no known duration", at("05"), { ...at("06"), duration_ms: 0 }, false],
      ["at no known time, for no known duration", {}, {}, false],
      ["at no known time, for long", { duration_ms: 60_000 }, { duration_ms: 60_000 }, false],
      ["at no known time, for no time", { duration_ms: 60_000 }, { duration_ms: 0 }, true],
      [
        "at no known time, for no time, after a known one",
        { ...at("05"), duration_ms: 1_000 },
        { duration_ms: 0 },
        true
      ],
      ["at a known time, after an unknown one", { duration_ms: 1_000 }, at("06"), false]
    ])("takes a call %s for a retry only if it began after the failure for certain", async (what, before, then, is) => {
      const session = encodeURIComponent(`began ${what}`)
      const messages = [user("How far is it?")]
      await chat(decodeURIComponent(session), messages, failed, before)
      await chat(decodeURIComponent(session), messages, answered("12 km"), then)
      expect(await retriesOf(session)).toEqual([
        [1, 0, is ? 2 : 0],
        [2, is ? 1 : 0, 0]
      ])
    })

    it("takes calls whose request is not known for no retries", async () => {
      const session = "retries of nothing"
      for (const output of [failed, {}]) await record(session, { api: "aisdk", inputs: {}, output })
      expect(await retriesOf(encodeURIComponent(session))).toEqual([
        [1, 0, 0],
        [2, 0, 0]
      ])
    })

    it("has each message once, and says what each call added", async () => {
      const session = "conversation"
      const begin = [said("system", "Be short."), user("How far is it?")]
      const first = await chat(session, begin, answered("12 km"), { occurred_at: "2026-01-02T03:04:05Z" })
      const second = await chat(session, [...begin, assistant("12 km"), user("And back?")], answered("12 km"))
      expect(await get(session, "messages")).toEqual({
        messages: [
          [1, first, "input", "system", "Be short."],
          [2, first, "input", "user", "How far is it?"],
          [3, first, "output", "assistant", "12 km"],
          [4, second, "input", "user", "And back?"],
          [5, second, "output", "assistant", "12 km"]
        ].map(([number, event_id, from, role, content]) => ({
          number,
          event_id,
          at: event_id === first ? "2026-01-02T03:04:05.000Z" : expect.stringMatching(iso8601),
          from,
          role,
          parts: [{ type: "text", content }],
          ...(role === "system" ? { instruction_parts: [0] } : {}),
          ...(from === "output" ? { finish_reason: "stop" } : {})
        })),
        damaged_calls: 0,
        next_cursor: null
      })
      const page = await get(session, "calls")
      expect(page.next_cursor).toBe(null)
      const { body } = await fixture().client.get(`/api/v1/events?session=${session}`)
      expect(page.calls).toEqual([
        {
          ...body.events[0],
          parent_event_id: null,
          error_message: null,
          retry_of: null,
          retried_by: null,
          kept_messages: 0,
          new_messages: [1, 2],
          gone_messages: [],
          output: [3],
          carried: { kept: 0, runs: [[1, 2]] },
          instruction_messages: [1],
          instruction_characters: 9,
          instructions_changed: false,
          tools_changed: false,
          parameters_changed: false,
          input_prices: null,
          is_damaged: false
        },
        {
          ...body.events[1],
          parent_event_id: first,
          error_message: null,
          retry_of: null,
          retried_by: null,
          kept_messages: 3,
          new_messages: [4],
          gone_messages: [],
          output: [5],
          carried: { kept: 3, runs: [[4, 4]] },
          instruction_messages: [1],
          instruction_characters: 9,
          instructions_changed: false,
          tools_changed: false,
          parameters_changed: false,
          input_prices: null,
          is_damaged: false
        }
      ])
    })

    it("says what the instructions are, in every format", { tags: ["text"] }, async () => {
      const parts = (text: string) => [{ text }]
      const formats: Readonly<Record<string, (instructions: string) => object>> = {
        "provider1-chat-completions": (content) => ({ messages: [{ role: "developer", content }, user("Hello")] }),
        "provider1-responses": (instructions) => ({ instructions, input: "Hello" }),
        "provider2-messages": (system) => ({ system, messages: [user("Hello")] }),
        "provider2-beta-messages": (text) => ({ system: [{ type: "text", text }], messages: [user("Hello")] }),
        "provider3-models": (text) => ({
          systemInstruction: { parts: parts(text) },
          contents: [{ role: "user", parts: parts("Hello") }]
        }),
        "provider3-interactions": (system_instruction) => ({ system_instruction, input: "Hello" }),
        aisdk: (content) => ({ messages: [said("system", content), user("Hello")] })
      }
      for (const [api, inputsOf] of Object.entries(formats)) {
        const session = `instructions of ${api}`
        for (const text of ["Be short. 😀", "Be short. 😀", "Be kind."]) {
          await record(session, { api, inputs: inputsOf(text), output: {} })
        }
        const { calls } = await get(session, "calls")
        const { messages } = await get(session, "messages")
        expect([api, calls.map((call: any) => call.instruction_characters)]).toEqual([api, [11, 11, 8]])
        const areMessages = calls[0].instruction_messages.length > 0
        const instructing = messages.filter((message: any) => message.instruction_parts !== undefined)
        expect([api, instructing.map(({ instruction_parts }: any) => instruction_parts)]).toEqual([
          api,
          areMessages ? [[0], [0]] : []
        ])
        expect([api, instructing.map(({ number }: any) => number)]).toEqual([
          api,
          [...calls[0].instruction_messages, ...calls[2].instruction_messages]
        ])
        expect([api, textsOf({ messages }).at(areMessages ? 1 : 0)]).toEqual([api, "Hello"])
      }
    })

    it(
      "says which parts a client put before the words of a user, as coding agents do",
      { tags: ["text"] },
      async () => {
        const text = (text: string) => ({ type: "text", text })
        const messages = [
          { role: "user", content: [text("<system-reminder>\nBe kind.\n</system-reminder>\n"), text("Hello")] },
          said("system", "# Environment"),
          user("<question>An element of an application</question>"),
          user("What is <system-reminder>?")
        ]
        await record("reminders", { api: "provider2-messages", inputs: { messages }, output: {} })
        const context = [
          "<environment_context>\n</environment_context>",
          "# AGENTS.md instructions\n\n<INSTRUCTIONS>x</INSTRUCTIONS>"
        ]
        await chat("reminders 2", [...context.map(user), user("Hello")], {})
        const instructionsIn = async (session: string) =>
          (await get(session, "messages")).messages.map((message: any) => message.instruction_parts ?? null)
        expect(await instructionsIn("reminders")).toEqual([[0], [0], null, null])
        expect(await instructionsIn("reminders 2")).toEqual([[0], [0], null])
        // Those that stand after words of the user are none of the beginning.
        expect((await get("reminders", "calls")).calls[0]).toMatchObject({
          instruction_messages: [],
          instruction_characters: 0
        })
      }
    )

    it("tells threads that interleave from a compaction and an edit", async () => {
      const session = "threads"
      const a = [said("system", "A"), user("a1")]
      const b = [said("system", "B"), user("b1")]
      const [a1, b1] = [await chat(session, a, answered("A1")), await chat(session, b, answered("B1"))]
      a.push(assistant("A1"), user("a2"))
      b.push(assistant("B1"), user("b2"))
      const [b2, a2] = [await chat(session, b, answered("B2")), await chat(session, a, answered("A2"))]
      // A is compacted: of its messages, the last two stay, and no instructions.
      const compacted = [user("What was said before: a1."), user("a2"), assistant("A2"), user("a3")]
      const a3 = await chat(session, compacted, answered("A3"))
      // In B, an earlier message is cleared.
      const edited = [b[0]!, user("b1"), assistant("[cleared]"), user("b2"), assistant("B2"), user("b3")]
      await chat(session, edited, answered("B3"))
      await chat(session, [...compacted, assistant("A3"), user("a4")], answered("A4"))
      expect(textsOf(await get(session, "messages"))).toEqual([
        ...["A", "a1", "A1", "B", "b1", "B1", "b2", "B2", "a2", "A2"],
        ...["What was said before: a1.", "a3", "A3", "[cleared]", "b3", "B3", "a4", "A4"]
      ])
      expect(await callsOf(session)).toEqual([
        { parent: null, kept: 0, new: [1, 2], gone: [], output: [3], carried: { kept: 0, runs: [[1, 2]] } },
        { parent: null, kept: 0, new: [4, 5], gone: [], output: [6], carried: { kept: 0, runs: [[4, 5]] } },
        { parent: b1, kept: 3, new: [7], gone: [], output: [8], carried: { kept: 3, runs: [[7, 7]] } },
        { parent: a1, kept: 3, new: [9], gone: [], output: [10], carried: { kept: 3, runs: [[9, 9]] } },
        {
          parent: a2,
          kept: 2,
          new: [11, 12],
          gone: [2, 3],
          output: [13],
          carried: {
            kept: 0,
            runs: [
              [11, 11],
              [9, 10],
              [12, 12]
            ]
          }
        },
        {
          parent: b2,
          kept: 4,
          new: [14, 15],
          gone: [6],
          output: [16],
          carried: {
            kept: 2,
            runs: [
              [14, 14],
              [7, 8],
              [15, 15]
            ]
          }
        },
        { parent: a3, kept: 5, new: [17], gone: [], output: [18], carried: { kept: 5, runs: [[17, 17]] } }
      ])
    })

    it("says by what the input of each call was priced, where the list says it", async () => {
      const session = "input prices"
      const ask = (model: string, output: object) =>
        record(session, { api: "provider2-messages", inputs: { model, messages: [user(model)] }, output })
      const usage = { input_tokens: 10, output_tokens: 2 }
      await ask("claude-sonnet-4-5", { usage })
      await ask("claude-sonnet-4-5", { usage: { ...usage, cache_read_input_tokens: 250_000 } })
      await ask("claude-sonnet-4-5", {})
      await ask("a-model-of-nobody", { usage })
      const { calls } = await get(session, "calls")
      expect(calls.map(({ input_prices }: any) => input_prices)).toEqual([
        { input_mtok: 3, cache_read_mtok: 0.3, cache_write_mtok: 3.75 },
        { input_mtok: 6, cache_read_mtok: 0.6, cache_write_mtok: 7.5 },
        null,
        null
      ])
    })

    it("says whether instructions, tools or parameters differ from the parent's", async () => {
      const session = "settings"
      const call = (inputs: object) =>
        record(session, { api: "provider2-messages", inputs: { messages: [user("a")], ...inputs }, output: {} })
      const tool = { name: "t", input_schema: {} }
      await call({ system: "s" })
      await call({ system: [{ type: "text", text: "s", cache_control: { type: "ephemeral" } }] })
      await call({ system: "other" })
      await call({ system: "other", tools: [tool] })
      await call({ system: "other", tools: [tool], temperature: 1 })
      const { calls } = await get(session, "calls")
      expect(
        calls.map((each: any) => [each.instructions_changed, each.tools_changed, each.parameters_changed])
      ).toEqual([
        [false, false, false],
        [false, false, false],
        [true, false, false],
        [false, true, false],
        [false, false, true]
      ])
      expect((await get(session, "messages")).messages).toHaveLength(1)
    })

    it("keeps numbers that JavaScript cannot hold, and fields of providers beside its own", async () => {
      const { client, fingerprintId } = fixture()
      const inputs = `{"messages":[{"role":"user","content":"a","number":7,"n":9007199254740993}]}`
      await client.post(
        "/api/v1/events",
        `{"event_name":"llm","properties":{"api":"provider1-chat-completions","inputs":${inputs},"output":{}},` +
          `"fingerprint_id":"${fingerprintId}","session":"exact"}`
      )
      const { text } = await client.get("/api/v1/sessions/exact/messages")
      expect(text).toContain(`{"messages":[{"number":1,`)
      expect(text).toContain(`"n":9007199254740993`)
    })

    it("has no field of a provider in place of one of its own", async () => {
      const session = "own fields"
      const taken = { number: 7, event_id: "x", at: 1, from: "x", parts: 1, verbatim: 3, is_damaged: true }
      const id = await chat(session, [{ ...user("a"), ...taken }, user("b")], {})
      const { messages } = await get(session, "messages")
      const own = { event_id: id, at: expect.stringMatching(iso8601), from: "input", role: "user" }
      expect(messages).toEqual(
        ["a", "b"].map((content, index) => ({
          number: index + 1,
          ...own,
          parts: [{ type: "text", content }],
          // Of the normal form, which has `parts` of its own. The other fields are of the endpoint alone.
          ...(index === 0 && { provider_parts: 1 })
        }))
      )
      const [exact] = (await get(session, "messages", { verbatim: "true" })).messages
      expect(JSON.parse(exact.verbatim)).toEqual({ ...user("a"), ...taken })
      expect(exact).not.toHaveProperty("is_damaged")
    })

    it("reads messages of calls that hold other arrays of messages", async () => {
      const session = "arrays"
      const others = [{ x: { messages: [user("other")] } }, { x: [[user("other")], [user("another")]] }]
      const said = [user("a"), assistant("b"), user("c")]
      for (const count of [1, 1, 3])
        for (const other of others) {
          const messages = said.slice(0, count)
          const inputs = [
            { ...other, messages },
            { messages, ...other }
          ]
          for (const each of inputs)
            await record(session, { api: "provider1-chat-completions", inputs: each, output: {} })
        }
      const { calls } = await get(session, "calls")
      expect(calls.map((call: any) => call.is_damaged)).toEqual(calls.map(() => false))
      expect(textsOf(await get(session, "messages"))).toEqual(["a", "b", "c"])
    })

    it("lists messages and calls in pages, in both orders, and what has come since", async () => {
      const session = "conversation pages"
      const messages: Array<object> = []
      const ids: Array<string> = []
      const say = async (content: string) => {
        messages.push(user(content))
        ids.push(await chat(session, messages, answered(`${content}!`)))
        messages.push(assistant(`${content}!`))
      }
      for (const content of ["a", "b", "c"]) await say(content)
      const all = async (list: "messages" | "calls", query: Record<string, string>) => {
        const rows: Array<any> = []
        for (let cursor: string | null | undefined; cursor !== null;) {
          const page: any = await get(session, list, { ...query, limit: "2", ...(cursor && { cursor }) })
          expect(page[list].length).toBeLessThanOrEqual(2)
          rows.push(...page[list])
          cursor = page.next_cursor
        }
        return rows.map(({ event_id, number }) => number ?? event_id)
      }
      expect(await all("messages", {})).toEqual([1, 2, 3, 4, 5, 6])
      expect(await all("messages", { order: "desc" })).toEqual([6, 5, 4, 3, 2, 1])
      expect(await all("messages", { after_number: "3" })).toEqual([4, 5, 6])
      expect(await all("messages", { after_number: "3", order: "desc" })).toEqual([6, 5, 4])
      expect(await all("messages", { after_number: "6" })).toEqual([])
      expect(await all("calls", {})).toEqual(ids)
      expect(await all("calls", { order: "desc" })).toEqual(ids.toReversed())
      expect(await all("calls", { after_event: ids[0]! })).toEqual(ids.slice(1))
      await say("d")
      expect(await all("messages", { after_number: "6" })).toEqual([7, 8])
      expect(await all("calls", { after_event: ids[2]! })).toEqual(ids.slice(3))
    })

    it("answers for sessions and events that do not exist, and for other projects", async () => {
      const { as, client, issue } = fixture()
      const id = await chat("one", [user("a")], answered("b"))
      const elsewhere = await chat("another one", [user("a")], answered("b"))
      const other = as((await issue({ scopes: ["read"], project: "conversations" })).key)
      for (const list of ["messages", "calls"]) {
        expectError(await client.get(`/api/v1/sessions/nobody/${list}`), 404, "session-not-found")
        expectError(await other.get(`/api/v1/sessions/one/${list}`), 404, "session-not-found")
        expectInvalid(await client.get(`/api/v1/sessions/one/${list}?after=1`), "extra_forbidden", "query", "after")
        expectInvalid(await client.get(`/api/v1/sessions/one/${list}?cursor=1`), "value_error", "query", "cursor")
        expectInvalid(await client.get(`/api/v1/sessions/one/${list}?limit=0`), "greater_than_equal", "query", "limit")
      }
      const number = "/api/v1/sessions/one/messages?after_number"
      expectInvalid(await client.get(`${number}=-1`), "greater_than_equal", "query", "after_number")
      expectInvalid(await client.get(`${number}=x`), "int_parsing", "query", "after_number")
      expect((await client.get(`/api/v1/sessions/one/calls?after_event=${id}`)).body.calls).toEqual([])
      const after = "/api/v1/sessions/one/calls?after_event"
      expectError(await client.get(`${after}=${elsewhere}`), 404, "event-not-found")
      expectInvalid(await client.get(`${after}=x`), "uuid_parsing", "query", "after_event")
    })
  })
}
