import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, describe, expect, it, vi } from "vitest"
import { Delivery } from "../../src/delivery/Delivery.ts"
import type { Outcome } from "../../src/delivery/Transport.ts"
import { createRecorder } from "../../src/index.ts"

/** A delivery with one event, and what became of its attempts. */
const open = (answer: () => Outcome<void>) => {
  let attempts = 0
  const outages: Array<unknown> = []
  const delivery = new Delivery({
    transport: {
      register: async () => ({ type: "done", value: "fingerprint" }),
      send: async () => {
        attempts++
        return answer()
      }
    },
    fingerprint: async () => "{}",
    maxEvents: 10,
    concurrency: 1,
    onDrop: () => {},
    onPostpone: () => {},
    onOutage: (cause) => void outages.push(cause)
  })
  delivery.add({ idempotencyKey: "key", load: () => ({ event: new TextEncoder().encode("{}") }), settled: () => {} })
  return { attempts: () => attempts, delivery, outages }
}

const gone = (): Outcome<void> => ({ type: "retry", cause: new Error("gone") })

describe("an outage of the recorder", () => {
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  it("is told after the third failure, once", async () => {
    vi.useFakeTimers()
    const { attempts, outages } = open(gone)
    await vi.advanceTimersByTimeAsync(300)
    expect(attempts()).toBe(2)
    expect(outages).toEqual([])
    await vi.advanceTimersByTimeAsync(60_000)
    expect(attempts()).toBeGreaterThan(3)
    expect(outages).toEqual([new Error("gone")])
  })

  it("is over at once for somebody who waits", async () => {
    vi.useFakeTimers()
    let isBack = false
    const { attempts, delivery } = open(() => (isBack ? { type: "done", value: undefined } : gone()))
    await vi.advanceTimersByTimeAsync(120_000)
    const failed = attempts()
    isBack = true
    const relax = delivery.hurry()
    await vi.advanceTimersByTimeAsync(0)
    expect(attempts()).toBe(failed + 1)
    expect(delivery.size).toBe(0)
    relax()
  })

  it("is looked at every second while somebody waits, and no longer", async () => {
    vi.useFakeTimers()
    const { attempts, delivery } = open(gone)
    await vi.advanceTimersByTimeAsync(120_000)
    const relax = delivery.hurry()
    const failed = attempts()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(attempts() - failed).toBeGreaterThanOrEqual(10)
    relax()
    await vi.advanceTimersByTimeAsync(1_000)
    const relaxed = attempts()
    await vi.advanceTimersByTimeAsync(14_000)
    expect(attempts() - relaxed).toBeLessThanOrEqual(1)
  })

  it("lasts as long as the recorder asks for, whoever waits", async () => {
    vi.useFakeTimers()
    const { attempts, delivery } = open(() => ({ type: "retry", afterMs: 60_000, cause: new Error("busy") }))
    await vi.advanceTimersByTimeAsync(0)
    delivery.hurry()
    await vi.advanceTimersByTimeAsync(59_000)
    expect(attempts()).toBe(1)
    await vi.advanceTimersByTimeAsync(8_000)
    expect(attempts()).toBe(2)
  })

  it("is printed, with its cause", async () => {
    const warnings: Array<unknown> = []
    vi.spyOn(console, "warn").mockImplementation((text) => void warnings.push(text))
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    const recorder = createRecorder({ url: `http://127.0.0.1:${port}`, apiKey: "key" })
    recorder.record({ api: "aisdk", inputs: {}, output: {} })
    await vi.waitFor(() => expect(warnings).toHaveLength(1), { timeout: 60_000 })
    expect(warnings[0]).toContain("Tachograph: calls wait, because they cannot be sent: ")
    expect(warnings[0]).toContain("ECONNREFUSED")
  })
})
