import { MemoryStorage } from "@tachograph/core"
import { Automaton } from "@tachograph/capture/masking/Automaton"
import * as Body from "@tachograph/capture/masking/Body"
import * as Patterns from "@tachograph/capture/masking/Patterns"
import * as Places from "@tachograph/capture/masking/Places"
import * as Steps from "@tachograph/capture/masking/Steps"
import { sqlite } from "@tachograph/storage-sqlite"
import fc from "fast-check"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished, vi } from "vitest"
import { Redactor } from "../../src/events/Redaction.ts"
import { createTachograph } from "../../src/index.ts"
import { upstream } from "../proxy/Upstream.ts"
import { apiKey } from "../Samples.ts"

const list = "sk-[a-z\\d]{8,}\n[\\w.]+@example\\.(com|org)"
const patterns = Patterns.parse(list)

/** By looking through all of it. */
const masked = (text: string, place: Places.Place = "texts") => {
  const { count, text: left } = Steps.run(Body.withoutMatches(Buffer.from(text), patterns, place))
  return { count, text: Buffer.from(left).toString() }
}

const bodyOf = (inputs: string, fields: object = {}, output = "{}") =>
  `{"event_name":"llm","properties":{"api":"provider1-chat-completions","inputs":${inputs},"output":${output}},${JSON.stringify({ session: "s", ...fields }).slice(1)}`

const redacted = (redactor: Redactor, text: string) => {
  const { count, text: left } = Steps.run(redactor.masked("p", Buffer.from(text)))
  return { count, text: Buffer.from(left).toString() }
}

const long = (n: number, words: string) => ({ role: "user", content: `${n} ${words} ${"x".repeat(700)} é` })

it("masks a body as if none had come before, whatever came before", () => {
  const message = fc.oneof(
    fc
      .tuple(fc.nat(5), fc.constantFrom("words", "sk-abcdefgh1", "me@example.com and me@example.com"))
      .map(([n, words]) => JSON.stringify(long(n, words))),
    fc.constantFrom("1", '"sk-\\u0061bcdefgh"', "null", '[["sk-abcdefgh9"]]', '{"sk-abcdefgh":"a\\n"}')
  )
  const messages = fc.array(message, { maxLength: 14 })
  fc.assert(
    fc.property(
      messages,
      fc.array(fc.tuple(fc.nat(14), messages, fc.constantFrom("s", "t")), { maxLength: 6 }),
      (first, more) => {
        const redactor = new Redactor(list)
        let before = first
        for (const [kept, added, session] of [[14, [], "s"] as const, ...more]) {
          before = [...before.slice(0, kept), ...added]
          const inputs = `{"system":"sk-abcdefgh2","messages":[ ${before.join(" , ")}],"tools":[${before.slice(0, 2).join()}]}`
          const text = bodyOf(inputs, { session, person: "me@example.org" })
          expect(redacted(redactor, text)).toEqual(masked(text, Places.ofEvent))
        }
      }
    ),
    { numRuns: 80, seed: 1 }
  )
})

it("looks only into what is new, however long the conversation is", () => {
  const redactor = new Redactor(list)
  const looked = vi.spyOn(Automaton.prototype, "matchesPlain")
  onTestFinished(() => looked.mockRestore())
  const messages = Array.from({ length: 200 }, (_, n) =>
    JSON.stringify(long(n, n % 3 === 0 ? "sk-abcdefgh1" : "words"))
  )
  const send = (count: number, session = "s") => {
    looked.mockClear()
    const text = bodyOf(`{"model":"m","messages":[${messages.slice(0, count).join()}]}`, { session })
    expect(redacted(redactor, text)).toEqual({ ...masked(text, Places.ofEvent), count: Math.ceil(count / 3) })
    return looked.mock.calls.length
  }
  // Each text is looked into once more, to compare.
  const whole = send(100)
  expect(send(101)).toBeLessThan(whole / 2 + 30)
  expect(send(101)).toBeLessThan(whole / 2 + 30)
  expect(send(199)).toBeLessThan(whole * 1.5 + 30)
  expect(send(101, "another")).toBeGreaterThan(whole)
})

it("stores no match anywhere, counts all of them, and knows what is sent again, also after a restart", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tachograph-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, "t.db")
  const secret = (n: number) => `sk-planted${n}`
  const open = async () => {
    const tachograph = await createTachograph({ storage: sqlite(file), apiKeys: [apiKey], redact: list, thread: false })
    return {
      tachograph,
      fingerprint_id: await tachograph.fingerprint({ language: "l", language_version: "v", system: "s" })
    }
  }
  let opened = await open()
  const messages: Array<string> = []
  for (let n = 0; n < 12; n++) {
    if (n === 6) {
      await opened.tachograph.close()
      opened = await open()
    }
    const { fingerprint_id, tachograph } = opened
    messages.push(
      JSON.stringify(long(n, `${secret(n)} or ${n}@example.com`)),
      `{"role":"assistant","content":"\\u0073k-planted${n}z"}`
    )
    const inputs = `{ "model" : "${secret(n)}","messages":[${messages.join()}],"n":1.0}`
    const call = `{"index":0,"message":{"role":"assistant","content":"${secret(n)}","tool_calls":[{"id":"a","function":{"name":"${secret(n)}","arguments":"{}"}}]}}`
    const output = `{"model":"${secret(n)}","choices":[${call}],"error":{"type":"${secret(n)}","message":"${secret(n)}"}}`
    const fields = {
      fingerprint_id,
      session: `${secret(0)} s`,
      agent: secret(n),
      person: secret(n),
      metadata: { [secret(n)]: secret(n) }
    }
    const text = bodyOf(inputs, { ...fields, recorded: { redacted: 2 } }, output)
    const { event_id } = await tachograph.record(text, { idempotencyKey: secret(n) })
    expect((await tachograph.record(`\ufeff${text}`)).event_id).not.toBe(event_id)
    expect((await tachograph.record(text, { idempotencyKey: secret(n) })).event_id).toBe(event_id)
    const event: any = await tachograph.api.getEvent({ event_id })
    expect(event.recorded).toEqual({ redacted: 2 + masked(text, Places.ofEvent).count })
    expect(JSON.stringify(event)).not.toContain("planted")
    expect(event.session).toBe("[redacted] s")
  }
  const headers = { authorization: `Bearer ${apiKey}` }
  const usage: any = await (
    await opened.tachograph.fetch(new Request("http://host/api/v1/storage", { headers }))
  ).json()
  // Each message is new once.
  expect(usage.new_bytes / usage.sent_bytes).toBeLessThan(0.25)
  await opened.tachograph.close()
  const bytes = readdirSync(folder).map((name) => readFileSync(join(folder, name)))
  for (const each of bytes) expect(each.includes("planted")).toBe(false)
})

it("masks calls that pass the proxy, and what they are answered, together with their credentials", async () => {
  const { url } = await upstream((response) => {
    response.writeHead(200, { "content-type": "application/json" }).end('{"choices":[],"n":1.0,"echo":"sk-planted12"}')
  })
  const proxy = { upstreams: { local: url } }
  const tachograph = await createTachograph({ storage: MemoryStorage.layer, apiKeys: [apiKey], redact: list, proxy })
  onTestFinished(() => tachograph.close())
  const headers = { "x-tachograph-key": apiKey, "content-type": "application/json" }
  const body = '{ "messages":[{"role":"user","content":"sk-planted11"}],"api_key":"one"}'
  const call = new Request("http://host/proxy/local/chat/completions", { method: "POST", headers, body })
  expect(await (await tachograph.fetch(call)).text()).toContain("planted12")
  const { events } = await vi.waitFor(
    async () => {
      const page = await tachograph.api.listEvents()
      expect(page.events).toHaveLength(1)
      return page
    },
    { timeout: 60_000 }
  )
  const text = await tachograph.api.getEvent.text({ event_id: events[0]!.event_id })
  expect(text).toContain('"inputs":{ "messages":[{"role":"user","content":"[redacted]"}],"api_key":"[redacted]"}')
  expect(text).toContain('"output":{"choices":[],"n":1.0,"echo":"[redacted]"}')
  expect(events[0]!.recorded).toEqual({ redacted: 3 })
})
