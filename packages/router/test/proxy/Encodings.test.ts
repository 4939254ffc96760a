/** Calls whose bodies are not what their headers say, begin with a byte order mark, or are no UTF-8. */
import { gzipSync } from "node:zlib"
import { expect, it, vi } from "vitest"
import { proxyTo, send, withKey } from "./Client.ts"
import { upstream } from "./Upstream.ts"

const path = "/proxy/local/v1/chat/completions"
const request = '{"model":"m", "messages":[]}'
const answer = '{"choices":[], "n": 9007199254740993}'
const mark = "\ufeff"

/** What is recorded of a call, and what the application got. */
const recorded = async (
  answered: { readonly body: string | Uint8Array; readonly headers?: ReadonlyArray<string>; readonly status?: number },
  sent: { readonly body?: string | Buffer; readonly headers?: Record<string, string> } = {}
) => {
  const { url } = await upstream(
    (response) => void response.writeHead(answered.status ?? 200, [...(answered.headers ?? [])]).end(answered.body)
  )
  const { port, tachograph } = await proxyTo(url)
  const { api } = tachograph
  const headers = { ...withKey, ...sent.headers }
  const { body } = await send(port, path, { headers, body: Buffer.from(sent.body ?? request) })
  const [event] = await vi.waitFor(
    async () => {
      const { events } = await api.listEvents()
      expect(events).toHaveLength(1)
      return events
    },
    { timeout: 60_000, interval: 5 }
  )
  return { body, event: event!, text: await api.getEvent.text({ event_id: event!.event_id }) }
}

const gzips = (count: number, body: string | Buffer): string | Buffer =>
  count === 0 ? body : gzips(count - 1, gzipSync(body))

const broken = Buffer.concat([gzipSync(answer).subarray(0, 20), Buffer.from("no more of it")])

it.each([
  ["an unknown encoding", answer, ["Content-Encoding", "lz"], "lz"],
  ["one that is damaged", broken, ["Content-Encoding", "gzip"], "gzip"],
  ["one that it does not have", answer, ["Content-Encoding", "gzip"], "gzip"],
  [
    "more of them than are undone",
    gzips(4, answer),
    ["Content-Encoding", "gzip, gzip, gzip, gzip"],
    "gzip, gzip, gzip, gzip"
  ],
  ["two lines of it", gzipSync(answer), ["Content-Encoding", "gzip", "Content-Encoding", "lz"], "gzip, lz"]
])("records the inputs and an error where the answer has %s", async (_name, body, headers, encoding) => {
  const { body: passed, text } = await recorded({ body, headers })
  expect(passed.equals(Buffer.from(body))).toBe(true)
  const message = `The answer could not be decompressed: its content encoding is ${encoding}.`
  const output = JSON.stringify({ error: { type: "content_encoding", message } })
  expect(text).toContain(`"inputs":${request},"output":${output}`)
})

it("decompresses what two lines say", async () => {
  const headers = ["Content-Encoding", "gzip", "Content-Encoding", "gzip"]
  const { text } = await recorded({ body: gzipSync(gzipSync(answer)), headers })
  expect(text).toContain(`"output":${answer}`)
})

it("records JSON behind a byte order mark", async () => {
  const { body, text } = await recorded({ body: mark + answer }, { body: mark + request })
  expect(String(body)).toBe(mark + answer)
  expect(text).toContain(`"inputs":${request},"output":${answer}`)
})

/** RFC 3629 has none of them. A `J` follows the third one, which is cut. */
const noUtf8 = ["\xff\xfe", "\xc0\xae", "\xe2\x82", "\xed\xa0\x80"]

const inJson = (json: string, bytes: string) => Buffer.from(json.replace("{", `{"a":"J${bytes}J",`), "latin1")

it.each([
  ...noUtf8.map((bytes) => [bytes, inJson(request, bytes), inJson(answer, bytes)] as const),
  // It is decoded in steps, which end between the two bytes of a character.
  ["\xff in much else", inJson(request, `\xff${"\xc3\xa9".repeat(200_000)}`), inJson(answer, "\xff")] as const
])("records a call with %j, which is no UTF-8, as the success that it was", async (_name, sent, answered) => {
  const { body, event, text } = await recorded({ body: answered }, { body: sent })
  expect(body.equals(answered)).toBe(true)
  expect(text.includes(`"inputs":${sent.toString()},"output":${answered.toString()}`)).toBe(true)
  expect(event.http_status).toBe(200)
})

it("records a stream and an answer in gzip that are no UTF-8", async () => {
  const chunk = `data: {"choices":[{"index":0,"delta":{"content":"J\xe2\x82J"}}]}\n\ndata: [DONE]\n\n`
  const streamed = await recorded({
    body: Buffer.from(chunk, "latin1"),
    headers: ["Content-Type", "text/event-stream"]
  })
  expect(streamed.text).toContain(`"content":"J\ufffdJ"`)
  const body = gzipSync(inJson(answer, "\xff"))
  const unpacked = await recorded({ body, headers: ["Content-Encoding", "gzip"] })
  expect(unpacked.text).toContain(`"output":${inJson(answer, "\xff").toString()}`)
})

it("takes a session of nothing but a byte order mark for none", async () => {
  const session = async (name: string) => {
    const headers = { "x-tachograph-session": Buffer.from(name).toString("latin1") }
    return (await recorded({ body: answer }, { headers })).event.session
  }
  expect(await session(mark)).toMatch(/^[\da-f]{64}$/)
  expect(await session(`${mark}a`)).toBe("a")
})
