/** What an agent version ran with. */
import { expect } from "vitest"
import type { Cases } from "./Cases.ts"
import { event, expectError, expectInvalid, iso8601 } from "./Requests.ts"

const user = (content: string) => ({ role: "user", content })

export const define = ({ describe, fixture, it }: Cases) => {
  const inProject = async (project: string) => {
    const { as, issue } = fixture()
    const client = as((await issue({ scopes: ["admin"], project })).key)
    const { body } = await client.put("/api/v1/fingerprints", { language: "l", language_version: "v", system: "s" })
    const fingerprint_id: string = body.fingerprint_id
    const record = async (session: string, inputs: object, fields: object = {}): Promise<string> => {
      const usage = { input_tokens: 10, output_tokens: 2 }
      const output = { model: "claude-sonnet-4-5", content: [{ type: "text", text: "b" }], usage }
      const properties = { api: "provider2-messages", inputs: { model: "claude-sonnet-4-5", ...inputs }, output }
      const sent = event(fingerprint_id, { session, agent: "a", agent_version: "v", properties, ...fields })
      return (await client.post("/api/v1/events", sent)).body.event_id
    }
    const list = async (query: Record<string, string> = {}) =>
      (await client.get(`/api/v1/agents/a/agent-versions/v/configurations?${new URLSearchParams(query)}`)).body
    return { client, fingerprint_id, list, record }
  }

  describe("Configurations", () => {
    it("lists each combination of settings once, with what its calls add up to", async () => {
      const { fingerprint_id, list, record } = await inProject("configurations")
      const tool = { name: "t", description: "d", input_schema: { type: "object" } }
      const system = "Be short. ".repeat(300)
      const first = await record("s1", { system, messages: [user("a")], tools: [tool] }, { duration_ms: 100 })
      const messages = [user("a"), { role: "assistant", content: "b" }, user("c")]
      await record("s1", {
        system: [{ type: "text", text: system, cache_control: { type: "ephemeral" } }],
        messages,
        tools: [tool]
      })
      await record("s2", { system, messages: [user("z")], tools: [tool] })
      const other = await record("s2", { system: "Be long.", messages: [user("z")], temperature: 0 })
      const { configurations, next_cursor } = await list()
      expect(next_cursor).toBe(null)
      const parameters = { model: "claude-sonnet-4-5" }
      const at = expect.stringMatching(iso8601)
      const uses = {
        model: "claude-sonnet-4-5",
        fingerprint_id,
        first_used_at: at,
        last_used_at: at,
        variants: null,
        is_damaged: false
      }
      const none = {
        errors: 0,
        unpriced_events: 0,
        partly_priced_events: 0,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        reasoning_tokens: 0
      }
      expect(configurations).toEqual([
        {
          ...{ ...uses, ...none, parameters: { ...parameters, temperature: 0 }, tools: [] },
          instructions: [{ type: "text", content: "Be long." }],
          ...{ first_event_id: other, events: 1, input_tokens: 10, output_tokens: 2, cost_usd: "0.00006" },
          ...{ duration_ms_p50: null, duration_ms_p95: null, duration_ms_p99: null }
        },
        {
          ...{ ...uses, ...none, parameters },
          tools: [{ name: "t", description: "d", parameters: { type: "object" } }],
          instructions: [{ type: "text", content: system }],
          ...{ first_event_id: first, events: 3, input_tokens: 30, output_tokens: 6, cost_usd: "0.00018" },
          ...{
            duration_ms_p50: expect.closeTo(100, -1),
            duration_ms_p95: expect.any(Number),
            duration_ms_p99: expect.any(Number)
          }
        }
      ])
      // A page ends where another configuration begins, and the next one goes on there.
      const page = await list({ limit: "1" })
      expect(page.configurations).toEqual(configurations.slice(0, 1))
      expect(await list({ limit: "1", cursor: page.next_cursor })).toMatchObject({
        configurations: [{ first_event_id: first, events: 3 }],
        next_cursor: null
      })
      expect((await list({ before: "2026-01-01T00:00:00Z" })).configurations).toEqual([])
    })

    it("takes the instructions at the beginning of the messages for instructions", async () => {
      const { list, record } = await inProject("leading instructions")
      const chat = (content: string) => ({
        api: "provider1-chat-completions",
        inputs: {
          model: "m",
          messages: [{ role: "system", content }, user("a"), { role: "system", content: "later" }]
        },
        output: {}
      })
      await record("s", {}, { properties: chat("A prompt of more than sixteen bytes") })
      await record("s", {}, { properties: chat("A prompt of more than sixteen bytes") })
      await record("s", {}, { properties: chat("Short") })
      const { configurations } = await list()
      expect(configurations.map(({ events, instructions }: any) => [events, instructions[0].content])).toEqual([
        [1, "Short"],
        [2, "A prompt of more than sixteen bytes"]
      ])
    })

    it("leaves out what a client changes with each request and each session, and says no change of it", async () => {
      const { client, list, record } = await inProject("noisy configurations")
      const line = (nonce: string) => `x-anthropic-billing-header: cc_version=2.1.177.${nonce}; cch=${nonce};`
      const said: Array<object> = []
      const ask = async (session: string, system: unknown) => {
        said.push(user(`${said.length}`))
        await record(session, { system, messages: said, metadata: { user_id: `{"session_id":"${session}"}` } })
        said.push({ role: "assistant", content: "b" })
      }
      const blocks = (nonce: string, prompt: string) => [line(nonce), prompt].map((text) => ({ type: "text", text }))
      await ask("s", blocks("36ee5", "Be short."))
      await ask("s", blocks("0aaa9", "Be short."))
      await ask("s", `${line("77b01")}\nBe short.`)
      await ask("t", blocks("12345", "Be short."))
      await ask("s", blocks("36ee5", "Be kind."))
      const { configurations } = await list()
      expect(configurations.map((each: any) => [each.events, each.instructions, each.parameters])).toEqual(
        [
          [1, "Be kind."],
          [4, "Be short."]
        ].map(([events, content]) => [events, [{ type: "text", content }], { model: "claude-sonnet-4-5" }])
      )
      const { calls } = (await client.get("/api/v1/sessions/s/calls")).body
      expect(calls.map((call: any) => call.instructions_changed)).toEqual([false, false, false, true])
      expect(calls.some((call: any) => call.parameters_changed)).toBe(false)
    })

    it("is one for instructions that differ in one short place, with the place and the latest variants", async () => {
      const { list, record } = await inProject("variants of configurations")
      const ids: Array<string> = []
      for (let hour = 0; hour < 24; hour++) {
        ids.push(await record("s", { system: `It is ${hour} h. Be short.`, messages: [user(`${hour}`)] }))
      }
      const other = await record("s", { system: "Be long.", messages: [user("z")] })
      const { configurations, next_cursor } = await list({ limit: "3" })
      expect(next_cursor).toBe(null)
      expect(configurations).toMatchObject([
        { first_event_id: other, events: 1, variants: null },
        {
          ...{ first_event_id: ids[0], events: 24, input_tokens: 240, cost_usd: "0.00144" },
          instructions: [{ type: "text", content: "It is 23 h. Be short." }],
          variants: { count: 24, part: 1, character: 7 }
        }
      ])
      expect(configurations[1].variants.latest).toEqual(
        Array.from({ length: 20 }, (_, index) => ({
          text: `${23 - index}`,
          last_used_at: expect.stringMatching(iso8601),
          first_event_id: ids[23 - index],
          events: 1,
          cost_usd: "0.00006"
        }))
      )
    })

    it("has nothing of what was erased", async () => {
      const { client, list, record } = await inProject("erased configurations")
      const planted = (word: string) => ({
        system: `planted ${word}`,
        messages: [user("a")],
        tools: [{ name: word, input_schema: {} }],
        metadata: { user_id: word }
      })
      await record("s", planted("alice-word"), { person: "alice" })
      await record("s", planted("bob-word"), { person: "bob" })
      const read = async () => JSON.stringify(await list())
      expect(await read()).toContain("alice-word")
      await client.call("DELETE", "/api/v1/people/alice", {})
      expect(await read()).not.toContain("alice-word")
      expect(await read()).toContain("bob-word")
    })

    it("answers for versions that do not exist", async () => {
      const { client, record } = await inProject("no configurations")
      const path = "/api/v1/agents/a/agent-versions/v/configurations"
      expectError(await client.get(path), 404, "agent-not-found")
      await record("s", {}, { agent_version: "w" })
      expectError(await client.get(path), 404, "agent-version-not-found")
      expectInvalid(await client.get(`${path}?order=asc`), "extra_forbidden", "query", "order")
    })
  })
}
