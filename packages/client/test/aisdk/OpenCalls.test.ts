import { afterEach, expect, it, vi } from "vitest"
import { OpenCalls } from "../../src/aisdk/OpenCalls.ts"
import { Budget } from "../../src/delivery/Budget.ts"

afterEach(() => void vi.useRealTimers())

const started = (inputs: object) => ({
  inputs: { ...inputs },
  answered: [],
  context: {},
  told: { headers: [], addresses: [] },
  occurredAt: new Date(),
  startedAt: performance.now()
})

it.each([["6"], ["7"]])("forgets a call of version %s that is under way for an hour", async (version) => {
  vi.useFakeTimers()
  const memory = new Budget(1_000_000)
  let lost = 0
  const openCalls = new OpenCalls({ memory, maxBytes: 500_000, lost: () => void lost++ })
  const begin = (n: number) => openCalls.add(version === "7" ? { callId: `${n}` } : { model: {} }, started({ n }))
  begin(1)
  await vi.advanceTimersByTimeAsync(30 * 60_000)
  begin(2)
  await vi.advanceTimersByTimeAsync(31 * 60_000)
  expect([openCalls.size, lost]).toEqual([1, 1])
  await vi.advanceTimersByTimeAsync(30 * 60_000)
  expect([openCalls.size, lost, memory.held]).toEqual([0, 2, 0])
  begin(3)
  expect(openCalls.take(version === "7" ? { callId: "3" } : {}, {})).toEqual(
    version === "7" ? expect.anything() : undefined
  )
})

it("holds no bytes for what has ended, or begins again", () => {
  const memory = new Budget(1_000_000)
  const openCalls = new OpenCalls({ memory, maxBytes: 500_000, lost: () => {} })
  const message: Record<string, unknown> = { text: "x".repeat(1000), image: new Uint8Array(5000) }
  message["itself"] = message
  const inputs = { messages: [message] }
  openCalls.add({ callId: "1" }, started(inputs))
  const { held } = memory
  expect(held).toBeGreaterThan(6000)
  expect(held).toBeLessThan(7000)
  openCalls.add({ callId: "1" }, started(inputs))
  expect(memory.held).toBe(held)
  expect(openCalls.take({ callId: "1" }, {})).toBeDefined()
  expect(memory.held).toBe(0)
})
