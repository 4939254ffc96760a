import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Payloads from "../../src/stream/Payloads.ts"

const encoder = new TextEncoder()

/** Decodes bytes that are cut into chunks. With `asks`, the end is asked for after each chunk, and what it says is dropped. */
const decode = (bytes: Uint8Array, cuts: ReadonlyArray<number> = [], asks = false) => {
  const decoder = Payloads.make()
  const to = [...new Set(cuts)].filter((cut) => cut < bytes.length).toSorted((a, b) => a - b)
  const chunks = [...to, bytes.length].map((end, index) => bytes.subarray(to[index - 1] ?? 0, end))
  const payloads = chunks.flatMap((chunk, index) => {
    const complete = decoder.push(chunk)
    if (asks && index < chunks.length - 1) decoder.end()
    return [...complete]
  })
  return [...payloads, ...decoder.end()]
}

const dataOf = (text: string) => decode(encoder.encode(text)).map(({ data }) => data)

describe("payloads", () => {
  it("are the data of server-sent events, with their names", () => {
    expect(decode(encoder.encode('event: a\ndata: {"b":1}\n\ndata: [DONE]\n\n'))).toEqual([
      { event: "a", data: '{"b":1}' },
      { event: "", data: "[DONE]" }
    ])
  })

  it("are the items of a JSON array as it is written", () => {
    const items = ['{\n  "a": "]},{[\\""\n}', '{"b":[1,[2]]}', '{"c":{}}']
    expect(dataOf(`[${items[0]}\n,\r\n${items[1]},${items[2]}\n]\n`)).toEqual(items)
    expect(dataOf(`[${items.join(",")}]`)).toEqual(items)
    expect(dataOf(`\uFEFF\n [${items[1]}\n,\n{"cut": `)).toEqual([items[1]])
  })

  it("are JSON values, one a line or next to each other", () => {
    expect(dataOf('{"a":1}\n{"b":"{"}\r\n\r\n{"c":[]}{"d":0}')).toEqual(['{"a":1}', '{"b":"{"}', '{"c":[]}', '{"d":0}'])
  })

  it("are one body, also a pretty-printed one, with Unicode's line separators inside", () => {
    const body = '{\n\t"error": {\n\t\t"message": "a\u2028b\\\\",\n\n\t\t"details": [ [ ] ]\n\t}\n}'
    expect(dataOf(body)).toEqual([body])
    expect(dataOf(`${body}\n`)).toEqual([body])
  })

  it("are a body behind server-sent events, and the event that it interrupts", () => {
    const body = '{\n  "error": {\n    "code": 499\n  }\n}'
    expect(dataOf(`data: 1\n\n${body}\n`)).toEqual(["1", body])
    expect(dataOf(`data: 1\n${body}`)).toEqual(["1", body])
    expect(dataOf(`data: 1\n\n${body}\n\ndata: 2\n\n`)).toEqual(["1", body, "2"])
  })

  it("go on after JSON that never ends", () => {
    expect(dataOf('{ "a": [\n\ndata: 1\n\n: ping\n\ndata: 2\n\n{"b":1}')).toEqual(["1", "2", '{"b":1}'])
  })

  it("are not in a body that is neither", () => {
    expect(dataOf("<html><body>502 Bad Gateway</body></html>\n")).toEqual([])
    expect(dataOf("upstream connect error: reset")).toEqual([])
    expect(dataOf("")).toEqual([])
    expect(dataOf("]}\n}]\n")).toEqual([])
  })

  it("end strings where JSON ends them", () => {
    for (const text of ['"\\\\"', '"\\""', '"\\\\\\""', '"}"', '"\u2028{"']) {
      expect(dataOf(`{"a":${text}}{"b":1}`)).toEqual([`{"a":${text}}`, '{"b":1}'])
    }
  })

  const value = fc.json({ maxDepth: 3 }).map((text) => (text.startsWith("{") ? text : `{"v":${text}}`))
  const frames: ReadonlyArray<(values: ReadonlyArray<string>) => string> = [
    (values) => values.map((text) => `event: e\ndata: ${text}\n\n: ping\n\n`).join(""),
    (values) => values.map((text) => `data:${text}\r\n\r\n`).join(""),
    (values) => `[${values.map((text) => JSON.stringify(JSON.parse(text), null, 2)).join("\n,\r\n")}\n]\n`,
    (values) => `[${values.join(",")}]`,
    (values) => values.map((text) => `${text}\n`).join(""),
    (values) => `${values.map((text) => `data: ${text}\n\n`).join("")}${JSON.stringify({ error: { a: 1 } }, null, 1)}`
  ]

  it("are the same wherever the bytes are cut, and however often the end is asked for", () => {
    fc.assert(
      fc.property(
        fc.array(value, { maxLength: 4 }),
        fc.constantFrom(...frames),
        fc.array(fc.nat(200), { maxLength: 8 }),
        fc.boolean(),
        (values, frame, cuts, asks) => {
          const bytes = encoder.encode(frame(values))
          const payloads = decode(bytes)
          expect(decode(bytes, cuts, asks)).toEqual(payloads)
          const expected = values.map((text) => JSON.parse(text))
          expect(payloads.slice(0, values.length).map(({ data }) => JSON.parse(data))).toEqual(expected)
        }
      )
    )
  })

  it("come with the end as far as they are whole, and again with the bytes that follow", () => {
    const values = ['{"a":"ä{"}', '{"a":[1]}', '{"a":"ä{"}']
    for (const frame of frames) {
      const bytes = encoder.encode(frame(values))
      const whole = decode(bytes)
      for (let cut = 1; cut < bytes.length; cut++) {
        expect(decode(bytes, [cut], true)).toEqual(whole)
        const decoder = Payloads.make()
        const soFar = [...decoder.push(bytes.subarray(0, cut)), ...decoder.end()]
        const last = soFar.at(-1)
        // Half of an event's data is no JSON, so accumulators leave it out.
        if (last !== undefined && !whole.some(({ data }) => data === last.data)) soFar.pop()
        expect(whole.slice(0, soFar.length)).toEqual(soFar)
      }
    }
  })

  it("are found in time that grows with the text: one scan of each character", () => {
    const depth = 100_000
    const deep = `${'{"a":['.repeat(depth)}${"]}".repeat(depth)}`
    const quotes = `{"a":"${'\\\\\\"'.repeat(250_000)}"}`
    expect(dataOf(`[${deep},${quotes}]`)).toEqual([deep, quotes])
    // A payload of many chunks is joined once.
    const bytes = encoder.encode(`data: ${quotes}\n\n`)
    expect(
      decode(
        bytes,
        Array.from({ length: 100_000 }, (_, index) => index * 10)
      )
    ).toEqual([{ event: "", data: quotes }])
  })
})
