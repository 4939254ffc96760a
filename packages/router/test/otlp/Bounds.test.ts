/** What a post can make the decoders do: each limit at it and just past it, in both encodings. */
import { Steps } from "@tachograph/core"
import { expect, it } from "vitest"
import * as Decoded from "../../src/otlp/Decoded.ts"
import * as OtlpJson from "../../src/otlp/OtlpJson.ts"
import * as Protobuf from "../../src/otlp/Protobuf.ts"

const varint = (value: number): ReadonlyArray<number> =>
  value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)]

/** A field of bytes. */
const field = (number: number, ...contents: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([...varint((number << 3) | 2), ...varint(content.length)]), content])
}

const repeated = (bytes: Uint8Array, times: number): Buffer => Buffer.alloc(bytes.length * times, bytes)
const ids = [field(1, Buffer.alloc(16, 7)), field(2, Buffer.alloc(8, 9))]
const pair = (key: string, value: Uint8Array) => [field(1, Buffer.from(key)), field(2, value)]
const text = (value: string) => field(1, Buffer.from(value))
const marked = field(9, ...pair("gen_ai.operation.name", text("chat")))
const protobuf = (...spans: ReadonlyArray<Uint8Array>) => field(1, field(2, ...spans.map((span) => field(2, span))))

const jsonIds = `"traceId":"${"07".repeat(16)}","spanId":"${"09".repeat(8)}"`
const jsonMark = `{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}}`
const json = (spans: string) => Buffer.from(`{"resourceSpans":[{"scopeSpans":[{"spans":[${spans}]}]}]}`)

/** Each encoding with so many calls in one post, and with one call that has a list of so many values. */
const encodings = {
  protobuf: {
    decode: Protobuf.decode,
    calls: (times: number) => field(1, field(2, repeated(field(2, ...ids, marked), times))),
    values: (times: number) => {
      const list = field(5, repeated(field(1, text("v")), times))
      return protobuf(Buffer.concat([...ids, marked, field(9, ...pair("list", list))]))
    },
    /** Of one value. */
    fields: 2,
    /** Beside the values. */
    others: 18
  },
  json: {
    decode: OtlpJson.decode,
    calls: (times: number) =>
      json(Array.from({ length: times }, () => `{${jsonIds},"attributes":[${jsonMark}]}`).join()),
    values: (times: number) => {
      const list = Array.from({ length: times }, () => `{"stringValue":"v"}`).join()
      return json(`{${jsonIds},"attributes":[${jsonMark},{"key":"list","value":{"arrayValue":{"values":[${list}]}}}]}`)
    },
    fields: 2,
    others: 13
  }
} as const

const eachEncoding = it.each(Object.keys(encodings) as ReadonlyArray<keyof typeof encodings>)

const read = (encoding: keyof typeof encodings, post: Buffer) => Steps.run(encodings[encoding].decode(post, "traces"))

eachEncoding(`reads ${Decoded.maxTold} calls of a post in %s, and refuses those that follow`, (encoding) => {
  const { calls } = encodings[encoding]
  const most = read(encoding, calls(Decoded.maxTold))
  expect([most.spans.length, most.refused.size]).toEqual([Decoded.maxTold, 0])
  const more = read(encoding, calls(Decoded.maxTold + 2))
  expect([more.spans.length, ...more.refused]).toEqual([
    Decoded.maxTold,
    [`are more than ${Decoded.maxTold} in one post`, 2]
  ])
})

eachEncoding(`reads a call with ${Decoded.maxValues} values in %s, and refuses one with more`, (encoding) => {
  const { fields, others, values } = encodings[encoding]
  const times = Math.floor((Decoded.maxValues - others) / fields)
  const most = read(encoding, values(times))
  expect(most.spans[0]?.attributes.get("list")).toHaveLength(times)
  expect(most.refused.size).toBe(0)
  const more = read(encoding, values(times + 1))
  expect([more.spans.length, ...more.refused]).toEqual([0, [`have more than ${Decoded.maxValues} values`, 1]])
})

it.each([
  ["attributes", repeated(field(9), 200_000)],
  ["events", repeated(field(11), 200_000)],
  ["unknown fields", repeated(field(14), 200_000)]
])("refuses a call with too many empty %s", (_, empty) => {
  const { refused, spans } = read(
    "protobuf",
    protobuf(Buffer.concat([...ids, marked, empty]), Buffer.concat([...ids, marked]))
  )
  expect([spans.length, ...refused]).toEqual([1, [`have more than ${Decoded.maxValues} values`, 1]])
})

/** How many steps a post takes, and what it says. */
const stepsOf = (encoding: keyof typeof encodings, post: Buffer) => {
  const steps = encodings[encoding].decode(post, "traces")
  for (let count = 1; ; count++) {
    const { done, value } = steps.next()
    if (done === true) return { count, decoded: value }
  }
}

it.each([
  ["protobuf", "resources", repeated(field(1), 500_000)],
  ["protobuf", "scopes", field(1, repeated(field(2), 500_000))],
  ["protobuf", "spans", field(1, field(2, repeated(field(2), 500_000)))],
  ["json", "resources", Buffer.from(`{"resourceSpans":[${"{},".repeat(500_000)}{}]}`)],
  ["json", "spans", json(`${"0,".repeat(500_000)}{}`)]
] as const)("reads a post in %s with very many empty %s in steps, and keeps none", (encoding, _, post) => {
  const { count, decoded } = stepsOf(encoding, post)
  expect(count).toBeGreaterThanOrEqual(post.length / Steps.stepBytes)
  expect(decoded).toMatchObject({ spans: [], links: [] })
})

it("reads values within values as far as the limit, and those that are deeper as none", () => {
  const nested = (depth: number) => {
    const value = `{"arrayValue":{"values":[`.repeat(depth) + `{"stringValue":"deep"}` + "]}}".repeat(depth)
    const { spans } = read("json", json(`{${jsonIds},"attributes":[${jsonMark},{"key":"list","value":${value}}]}`))
    return JSON.stringify(spans[0]?.attributes.get("list"))
  }
  expect(nested(Decoded.maxDepth)).toContain("deep")
  expect(nested(Decoded.maxDepth + 1)).not.toContain("deep")
  expect(nested(20_000)).toBe(`${"[".repeat(Decoded.maxDepth)}null${"]".repeat(Decoded.maxDepth)}`)
})
