import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, describe, expect, it, vi } from "vitest"
import { Delivery } from "../../src/delivery/Delivery.ts"
import type { Outcome } from "../../src/delivery/Transport.ts"
import { createRecorder } from "../../src/index.ts"

/** A delivery, and the keys of its attempts. It has one event, `key`, unless `keys` are given. */
const open = (answer: (key: string) => Outcome<void>, keys: ReadonlyArray<string> = ["key"], concurrency = 1) => {
  const attempted: Array<string> = []
  const outages: Array<unknown> = []
  const delivery = new Delivery({
    transport: {
      register: async () => ({ type: "done", value: "fingerprint" }),
      send: async ({ idempotencyKey: key }) => {
        attempted.push(key)
        return answer(key)
      },
      stop: () => {}
    },
    fingerprint: async () => "{}",
    apart: (run) => run(),
    maxEvents: 1000,
    concurrency,
    onDrop: () => {},
    onPostpone: () => {},
    onOutage: (cause) => void outages.push(cause)
  })
  const event = new TextEncoder().encode("{}")
  const add = (key: string) =>
    delivery.add({ idempotencyKey: key, bytes: 2, load: () => ({ event }), settled: () => {} })
  for (const key of keys) add(key)
  return { add, attempted, attempts: () => attempted.length, delivery, outages }
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

  it("lasts as long as the recorder asks for, even if somebody waits", async () => {
    vi.useFakeTimers()
    const { attempts, delivery } = open(() => ({ type: "retry", afterMs: 60_000, cause: new Error("busy") }))
    await vi.advanceTimersByTimeAsync(0)
    delivery.hurry()
    await vi.advanceTimersByTimeAsync(59_000)
    expect(attempts()).toBe(1)
    await vi.advanceTimersByTimeAsync(8_000)
    expect(attempts()).toBe(2)
  })

  it("lasts as long as the recorder asks for, though an attempt that it began with asked for less", async () => {
    vi.useFakeTimers()
    const busy = { type: "retry", afterMs: 60_000, cause: new Error("busy") } as const
    const { attempts } = open((key) => (key === "gone" ? gone() : busy), ["gone", "busy"], 2)
    await vi.advanceTimersByTimeAsync(59_000)
    expect(attempts()).toBe(2)
    await vi.advanceTimersByTimeAsync(8_000)
    expect(attempts()).toBeGreaterThan(2)
  })

  it("does not make attempts more often, though the recorder asks for no wait", async () => {
    vi.useFakeTimers()
    const { attempts, delivery } = open(() => ({ type: "retry", afterMs: 0, cause: new Error("busy") }))
    await vi.advanceTimersByTimeAsync(2_000)
    expect(attempts()).toBeLessThanOrEqual(5)
    delivery.hurry()
    const failed = attempts()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(attempts() - failed).toBeLessThanOrEqual(25)
  })

  it("keeps the order of the events, and tries several of them", async () => {
    vi.useFakeTimers()
    let isBack = false
    const keys = ["0", "1", "2", "3"]
    const answer = (): Outcome<void> => (isBack ? { type: "done", value: undefined } : gone())
    const { add, attempted, delivery } = open(answer, keys)
    await vi.advanceTimersByTimeAsync(60_000)
    const failed = attempted.length
    expect(new Set(attempted).size).toBe(4)
    expect(failed).toBeLessThan(15)
    add("4")
    isBack = true
    await vi.advanceTimersByTimeAsync(30_000)
    expect(delivery.size).toBe(0)
    const [probe, ...rest] = attempted.slice(failed)
    expect(rest).toEqual([...keys, "4"].filter((key) => key !== probe))
  })

  it("is printed, with its cause", async () => {
    const warnings: Array<unknown> = []
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    // Recorders of other tests may still try their own servers.
    vi.spyOn(console, "warn").mockImplementation((text) => {
      if (String(text).includes(`127.0.0.1:${port}`)) warnings.push(text)
    })
    await new Promise((resolve) => server.close(resolve))
    const recorder = createRecorder({ url: `http://127.0.0.1:${port}`, apiKey: "key" })
    recorder.record({ api: "aisdk", inputs: {}, output: {} })
    await vi.waitFor(() => expect(warnings).toHaveLength(1), { timeout: 60_000 })
    expect(warnings[0]).toContain("Tachograph: calls wait, because they cannot be sent: ")
    expect(warnings[0]).toContain("ECONNREFUSED")
  })
})

describe("an event that always fails", () => {
  afterEach(() => void vi.useRealTimers())

  it.each([1, 8])(
    "keeps no others from being sent, %i at once, and is tried less and less often",
    async (concurrency) => {
      vi.useFakeTimers()
      let isCured = false
      const isBad = (key: string) => key.startsWith("bad") && !isCured
      const answer = (key: string): Outcome<void> => (isBad(key) ? gone() : { type: "done", value: undefined })
      const { add, attempted, delivery } = open(answer, ["bad 1", "bad 2"], concurrency)
      const times = { sent: 0, slowest: 0 }
      const attemptsAt: Array<number> = []
      for (let second = 0; second < 600; second++) {
        add(`good ${second}`)
        await vi.advanceTimersByTimeAsync(1_000)
        times.slowest = Math.max(times.slowest, delivery.size - 2)
        attemptsAt.push(attempted.filter((key) => key === "bad 1").length)
      }
      expect(times.slowest).toBeLessThanOrEqual(1)
      expect(delivery.counters()).toMatchObject({ sent: 600, waiting: 2, dropped: {} })
      expect(attemptsAt[599]).toBeLessThan(20)
      expect(attemptsAt[599]! - attemptsAt[300]!).toBeLessThanOrEqual(3)
      expect(attemptsAt[599]! - attemptsAt[300]!).toBeGreaterThanOrEqual(1)
      isCured = true
      delivery.hurry()
      await vi.advanceTimersByTimeAsync(0)
      expect(delivery.size).toBe(0)
    }
  )

  it("takes some of the places only, where each attempt takes its time", async () => {
    vi.useFakeTimers()
    const bad = Array.from({ length: 20 }, (_, n) => `bad ${n}`)
    const attempted: Array<string> = []
    let active = 0
    const delivery = new Delivery({
      transport: {
        register: async () => ({ type: "done", value: "fingerprint" }),
        send: async ({ idempotencyKey: key }) => {
          attempted.push(key)
          if (!key.startsWith("bad")) return { type: "done", value: undefined }
          active++
          await new Promise((resolve) => setTimeout(resolve, 60_000))
          active--
          return gone()
        },
        stop: () => {}
      },
      fingerprint: async () => "{}",
      apart: (run) => run(),
      maxEvents: 1000,
      concurrency: 8,
      onDrop: () => {},
      onPostpone: () => {},
      onOutage: () => {}
    })
    const event = new TextEncoder().encode("{}")
    const add = (key: string) =>
      delivery.add({ idempotencyKey: key, bytes: 2, load: () => ({ event }), settled: () => {} })
    for (const key of bad) add(key)
    let mostActive = 0
    for (let minute = 0; minute < 120; minute++) {
      add(`good ${minute}`)
      await vi.advanceTimersByTimeAsync(60_000)
      if (minute > 60) mostActive = Math.max(mostActive, active)
    }
    expect(mostActive).toBeLessThanOrEqual(2)
    expect(delivery.counters()).toMatchObject({ sent: 120, waiting: 20 })
  })
})
