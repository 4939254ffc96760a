import { RandomJson } from "@tachograph/testkit"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as JsonText from "../../src/domain/JsonText.ts"
import * as Pack from "../../src/payload/Pack.ts"

describe("Pack", () => {
  it("gives back the two texts it was made of, and counts their bytes", () => {
    fc.assert(
      fc.property(RandomJson.jsonObjectText, RandomJson.jsonObjectText, (inputs, output) => {
        const payload = { inputs: JsonText.unsafe(inputs), output: JsonText.unsafe(output) }
        const packed = Pack.pack(payload)
        // Storages may answer a view into a larger buffer.
        const shifted = new Uint8Array(packed.bytes.length + 3)
        shifted.set(packed.bytes, 3)
        expect(Pack.unpack(shifted.subarray(3))).toEqual(payload)
        expect(packed.inputsBytes).toBe(new TextEncoder().encode(inputs).length)
        expect(packed.outputBytes).toBe(new TextEncoder().encode(output).length)
      })
    )
  })

  it("refuses a format that it does not know", () => {
    expect(() => Pack.unpack(Uint8Array.of(9, 0, 0, 0, 0))).toThrow("A pack of format 9")
  })
})
