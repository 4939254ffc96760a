import { expect, it } from "vitest"
import { collect } from "../src/CollectedBody.ts"

const bounds = { maxBytes: 10, maxMs: 60_000 }

const streamOf = (...texts: ReadonlyArray<string>) => ReadableStream.from(texts.map((text) => Buffer.from(text)))

it("collects a body up to the bound on its bytes", async () => {
  expect(String(await collect(streamOf("12345", "67890"), bounds))).toBe("1234567890")
  expect((await collect(streamOf(), bounds))?.length).toBe(0)
  let isCancelled = false
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(Buffer.from("123")),
    cancel: () => void (isCancelled = true)
  })
  expect([await collect(endless, bounds), isCancelled]).toEqual([undefined, true])
})

it("gives a body up that takes too long", async () => {
  let isCancelled = false
  const silent = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from("123")),
    cancel: () => void (isCancelled = true)
  })
  expect([await collect(silent, { ...bounds, maxMs: 10 }), isCancelled]).toEqual([undefined, true])
})

it("rejects where the body is cut", async () => {
  const cut = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("cut")) })
  await expect(collect(cut, bounds)).rejects.toThrow("cut")
})
