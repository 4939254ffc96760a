import * as fc from "fast-check"
import { expect, it } from "vitest"
import { ByteReader, ByteWriter } from "../../src/payload/format/Bytes.ts"
import { Durations } from "../../src/rollup/Durations.ts"

const durationMs = fc.oneof(fc.double({ min: 0.01, max: 1e9, noNaN: true }), fc.integer({ min: 1, max: 100_000 }))

const of = (values: ReadonlyArray<number>): Durations => {
  const durations = new Durations()
  for (const ms of values) durations.add(ms)
  return durations
}

const written = (durations: Durations): Durations => {
  const writer = new ByteWriter()
  durations.write(writer)
  return Durations.read(new ByteReader(Buffer.from(writer.view())))
}

const shares = [0.01, 0.5, 0.95, 0.99, 1]

it("says each percentile within 1 %, and the same after it was written", () => {
  fc.assert(
    fc.property(fc.array(durationMs, { minLength: 1, maxLength: 50 }), (values) => {
      const sorted = values.toSorted((a, b) => a - b)
      const found = of(values).percentiles(shares)
      for (const [index, share] of shares.entries()) {
        const exact = sorted[Math.ceil(share * values.length) - 1]!
        expect(Math.abs(found[index]! - exact) / exact).toBeLessThanOrEqual(0.01)
      }
      expect(written(of(values)).percentiles(shares)).toEqual(found)
    })
  )
})

it("adds and takes away", () => {
  fc.assert(
    fc.property(fc.array(durationMs), fc.array(durationMs), (a, b) => {
      for (const other of [of(b), written(of(b))]) {
        const sum = written(of(a))
        sum.merge(other)
        expect(sum.percentiles(shares)).toEqual(of([...a, ...b]).percentiles(shares))
        sum.merge(other, -1)
        expect(sum.percentiles(shares)).toEqual(of(a).percentiles(shares))
      }
    })
  )
})

it("has classes for what is shorter and longer than all others", () => {
  expect(of([]).percentiles([0.5])).toEqual([null])
  expect(of([0, 0.001]).percentiles([0.5])).toEqual([0])
  const [longest] = of([1e300]).percentiles([0.5])
  expect(Math.abs(longest! - 1e9) / 1e9).toBeLessThanOrEqual(0.01)
})
