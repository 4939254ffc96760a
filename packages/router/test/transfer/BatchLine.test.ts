import * as Effect from "effect/Effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as BatchLine from "../../src/transfer/BatchLine.ts"

const blank = fc.constantFrom("", " ", "\t ")
const name = fc.constantFrom('"idempotency_key"', '"idempotency_ke\\u0079"')
const member = fc.tuple(fc.constantFrom('"a"', '"b\\""', '"idempotency"'), blank, fc.json()).map((parts) => {
  const [key, space, value] = parts
  return `${key}${space}:${space}${value}`
})

describe("BatchLine", () => {
  it("leaves of a line what it is without its key, wherever that stands", () => {
    const line = fc.record({ before: fc.array(member), after: fc.array(member), name, space: blank, key: fc.json() })
    fc.assert(
      fc.property(line, ({ after, before, key, name, space }) => {
        const own = `${space}${name}${space}:${space}${key}${space}`
        const { body, key: read } = BatchLine.of(Buffer.from(`{${[...before, own, ...after].join(",")}}`))
        expect(JSON.parse(body.toString())).toEqual(JSON.parse(`{${[...before, ...after].join(",")}}`))
        const sent: unknown = JSON.parse(key)
        const isKey = sent === null || (typeof sent === "string" && /^[ -~]{1,255}$/.test(sent))
        expect(Effect.runSync(Effect.result(read!))).toMatchObject(isKey ? { success: sent } : { _tag: "Failure" })
      }),
      { numRuns: 60, seed: 1 }
    )
  })

  it("leaves the bytes of an event that a client has put a key in front of", () => {
    const events = ['{"a":1}', '{ "a": 1 }', "{}"]
    for (const event of events) {
      const { body } = BatchLine.of(
        Buffer.from(event.replace(/^\{\s*/, (start) => `${start}"idempotency_key": "k", `).replace(", }", "}"))
      )
      expect(body.toString()).toBe(event)
    }
  })

  it("takes a line without a key, and one that is no JSON, as they are", () => {
    for (const text of ['{"a":{"idempotency_key":1}}', "[1]", '{"idempotency_key":1,', '"idempotency_key"', ""]) {
      const line = Buffer.from(text)
      expect(BatchLine.of(line)).toEqual({ body: line, key: undefined })
    }
  })
})
