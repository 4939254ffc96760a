import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Body from "../../src/masking/Body.ts"
import * as Steps from "../../src/masking/Steps.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)

const masked = (text: string) => {
  const { count, text: left, values } = Steps.run(Body.masked(bytesOf(text)))
  return { text: new TextDecoder().decode(left), count, values }
}

const key = "planted-key"

describe("the credentials of a body", () => {
  it.each([
    { tools: [{ type: "mcp", server_url: "https://a", authorization: key }] },
    { tools: [{ type: "function" }, { type: "mcp", headers: { Authorization: key, "X-Api-Key": key } }] },
    { tools: [{ type: "mcp", headers: { "X-Mine": `Bearer ${key}` } }] },
    { tools: [{ extra_headers: { Cookie: key } }] },
    { tools: [{ id: "openai.mcp", args: { authorization: key, headers: { token: key } } }] },
    { tools: [{ mcpServers: [{ name: "a", streamableHttpTransport: { headers: { Authorization: key } } }] }] },
    { tools: [{ retrieval: { externalApi: { apiAuth: { apiKeyConfig: { apiKeyString: key } } } } }] },
    { mcp_servers: [{ type: "url", url: "https://a", name: "a", authorization_token: key }] },
    { mcp_servers: { a: { deeper: [[{ client_secret: key }]] } } },
    { model: "m", api_key: key, messages: [] },
    { aws_secret_access_key: key, aws_session_token: key, azure_ad_token: key },
    { user_config: { model_list: [{ litellm_params: { model: "m", api_key: key } }] } },
    { fallbacks: [{ model: "m", api_key: key }], customer_credentials: { openai: { "": key } } },
    { providerOptions: { gateway: { byok: { anthropic: [{ apiKey: key }] } } } }
  ])("are masked at their places, and nothing else is: %j", (body) => {
    for (const text of [JSON.stringify(body), JSON.stringify(body, null, 2)]) {
      const { count, text: left, values } = masked(text)
      expect(left).not.toContain(key)
      expect(count).toBe(left.split("[redacted]").length - 1)
      expect(values.every((value) => value.endsWith(key))).toBe(true)
      // Without the masks it is what it was.
      const rest = (value: string) =>
        value.replaceAll(/"(?:Bearer )?planted-key"|\{"openai":\{"":"planted-key"\}\}/g, '"[redacted]"')
      if (!text.includes("\n")) expect(left).toBe(rest(text))
      expect(() => JSON.parse(left)).not.toThrow()
    }
  })

  it.each([
    // Schemas, and what an application writes.
    { tools: [{ type: "function", function: { parameters: { properties: { api_key: { type: "string" } } } } }] },
    { tools: [{ name: "authorization", input_schema: { properties: { authorization: { const: key } } } }] },
    { messages: [{ role: "user", content: [{ type: "text", text: key, api_key: key }] }] },
    { tools: [{ type: "mcp", headers: { "X-Team": "planted words" }, server_label: key }] },
    { model: "m", metadata: { api_key: key }, prompt_cache_key: key },
    { inputs: { api_key: key } },
    [{ api_key: key }]
  ])("are no other values: %j", (body) => {
    const text = JSON.stringify(body)
    expect(masked(text)).toEqual({ text, count: 0, values: [] })
  })

  it.each([
    ['{"api_key":"a","api_key":"b"}', '{"api_key":"[redacted]","api_key":"[redacted]"}'],
    ['{ "api_k\\u0065y" :\t"a\\"b" , "x":1.0}', '{ "api_k\\u0065y" :\t"[redacted]" , "x":1.0}'],
    ['{"api_key":null,"apiKey":true,"azure_ad_token":""}', '{"api_key":null,"apiKey":true,"azure_ad_token":""}'],
    ['{"api_key":12e1,"apiKey":["a",{"b":1}]}', '{"api_key":"[redacted]","apiKey":"[redacted]"}'],
    [
      '{"tools":[{"authorization":"a"},[{"authorization":"b"}],7]}',
      '{"tools":[{"authorization":"[redacted]"},[{"authorization":"b"}],7]}'
    ],
    ['{"tools":[],"tools":[{"authorization":"a"}]}', '{"tools":[],"tools":[{"authorization":"[redacted]"}]}'],
    ['{"__proto__":{"api_key":"a"},"constructor":"b"}', '{"__proto__":{"api_key":"a"},"constructor":"b"}'],
    // Bodies that break off, and what is no JSON.
    ['{"model":"m","api_key":"abc', '{"model":"m","api_key":"[redacted]'],
    ['{"mcp_servers":[{"authorization_token":"ab\\"', '{"mcp_servers":[{"authorization_token":"[redacted]'],
    ['{"api_key', '{"api_key'],
    ['{"api_key":', '{"api_key":'],
    ["no JSON", "no JSON"],
    ["", ""]
  ])("of %s", (text, left) => {
    expect(masked(text).text).toBe(left)
  })

  it("are masked as a whole where they are nested too deeply to look", () => {
    const deep = (levels: number) => `{"mcp_servers":${"[".repeat(levels)}"a"${"]".repeat(levels)}}`
    expect(masked(deep(60)).count).toBe(0)
    expect(masked(deep(100)).count).toBe(1)
    expect(masked(deep(100_000)).count).toBe(1)
  })

  it("are found in steps, and in any text without an end", () => {
    const text = bytesOf(`{"messages":["${"x\\n".repeat(500_000)}",${"[],".repeat(300_000)}0],"api_key":"a"}`)
    let steps = 0
    const work = Body.masked(text)
    for (let step = work.next(); step.done !== true; step = work.next()) steps++
    expect(steps).toBeGreaterThan(10)
    const bits = fc.constantFrom(
      '"',
      "\\",
      "{",
      "}",
      "[",
      "]",
      ":",
      ",",
      " ",
      "1",
      "tools",
      "api_key",
      "mcp_servers",
      "a"
    )
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 40 }), (parts) => {
        const { text } = masked(parts.join(""))
        expect(typeof text).toBe("string")
      }),
      { numRuns: 2_000, seed: 1 }
    )
  })

  it("leave what is JSON JSON, with the same values elsewhere", () => {
    const name = fc.constantFrom("tools", "api_key", "headers", "authorization", "mcp_servers", "model", "token")
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 5 }, fc.string(), fc.integer(), fc.constant(null), tie("list"), tie("object")),
      list: fc.array(tie("value"), { maxLength: 3 }),
      object: fc.dictionary(name, tie("value"), { maxKeys: 4 })
    }))
    const isUnchanged = (before: unknown, after: unknown): boolean =>
      after === "[redacted]" || typeof before !== "object" || before === null
        ? after === "[redacted]" || after === before
        : Object.entries(before).every(([key, inner]) => isUnchanged(inner, (after as Record<string, unknown>)[key]))
    fc.assert(
      fc.property(value, (body) => isUnchanged(body, JSON.parse(masked(JSON.stringify(body)).text))),
      { numRuns: 1_000, seed: 1 }
    )
  })
})
