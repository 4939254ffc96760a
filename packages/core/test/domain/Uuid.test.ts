import { Schema } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Uuid from "../../src/domain/Uuid.ts"

const decode = Schema.decodeUnknownSync(Uuid.Uuid)

describe("Uuid", () => {
  it("normalises every form to lower-case hyphenated text", () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        const simple = uuid.replaceAll("-", "")
        for (const form of [uuid, uuid.toUpperCase(), simple, simple.toUpperCase(), `{${uuid}}`, `urn:uuid:${uuid}`]) {
          expect(decode(form)).toBe(uuid)
        }
        expect(Uuid.fromBytes(Uuid.toBytes(uuid))).toBe(uuid)
      })
    )
  })

  it.each([
    ["", "invalid length: expected length 32 for simple format, found 0"],
    ["1".repeat(33), "invalid length: expected length 32 for simple format, found 33"],
    ["g", "invalid character: found `g` at 1"],
    ["1é", "invalid character: found `é` at 2"],
    ["éé", "invalid character: found `é` at 1"],
    ["11111111-1111-4111-8111", "invalid group count: expected 5, found 4"],
    ["{11111111111141118111111111111111}", "invalid group count: expected 5, found 1"],
    ["{x}", "invalid character: found `x` at 2"],
    ["urn:uuid:x", "invalid character: found `x` at 10"],
    ["URN:UUID:11111111-1111-4111-8111-111111111111", "invalid character: found `U` at 1"],
    ["{ 1111111-1111-4111-8111-111111111111}", "invalid character: found ` ` at 1"],
    [`urn:uuid:x${"1".repeat(35)}`, "invalid character: found `x` at 1"],
    [`{${"1".repeat(36)}}`, "invalid length: expected length 32 for simple format, found 36"],
    [`{${"1".repeat(35)}}`, "invalid group count: expected 5, found 1"],
    [`{é${"1".repeat(34)}}`, "invalid character: found `é` at 1"],
    ["-".repeat(1_000_000), "invalid group count: expected 5, found 1000001"],
    ["1111111-11111-4111-8111-111111111111", "invalid group length in group 0: expected 8, found 7"],
    ["11111111-11111-411-8111-111111111111", "invalid group length in group 1: expected 4, found 5"],
    ["11111111-1111-4111-8111-1111111111111", "invalid group length in group 4: expected 12, found 13"]
  ])("rejects %j: %s", (text, message) => {
    expect(() => decode(text)).toThrow(message)
  })
})
