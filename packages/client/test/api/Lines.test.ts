import { describe, expect, it } from "vitest"
import { parsedLines } from "../../src/api/Lines.ts"

const bodyOf = (chunks: ReadonlyArray<Uint8Array>) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    }
  })

const all = async (body: ReadableStream<Uint8Array>) => {
  const values: Array<unknown> = []
  for await (const value of parsedLines(body)) values.push(value)
  return values
}

const valuesOf = (chunks: ReadonlyArray<Uint8Array>) => all(bodyOf(chunks))

const text = '{"a":"é"}\n\n\r\n[1,2]\n{"last":true}'
const bytes = new TextEncoder().encode(text)
const values = [{ a: "é" }, [1, 2], { last: true }]

describe("lines of JSON", () => {
  it.each(Array.from(bytes, (_, at) => at))("may be cut at byte %i", async (at) => {
    expect(await valuesOf([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(values)
  })

  it("may come byte by byte", async () => {
    expect(await valuesOf(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(values)
  })

  it("end the answer when the reader stops", async () => {
    let isCancelled = false
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode("1\n2\n")),
      cancel: () => void (isCancelled = true)
    })
    for await (const value of parsedLines(endless)) if (value === 2) break
    expect(isCancelled).toBe(true)
  })

  it("fail where the answer breaks off", async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new TypeError("terminated"))
    })
    await expect(all(broken)).rejects.toThrow("terminated")
    await expect(valuesOf([bytes.subarray(0, 5)])).rejects.toThrow(SyntaxError)
  })
})
