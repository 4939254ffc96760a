import { expect, it } from "vitest"
import { Budget } from "../../src/delivery/Budget.ts"
import { Call, type FinishedCall, textKeeper } from "../../src/tap/Call.ts"
import type { CapturedRequest } from "../../src/tap/CapturedRequest.ts"

const request: CapturedRequest = {
  kind: "call",
  asked: null,
  apiOf: () => "provider1-responses",
  url: new URL("http://127.0.0.1/responses"),
  bytes: 0,
  keep: () => {},
  leave: () => {},
  text: () => "{}",
  secrets: () => [],
  said: () => ({})
}

it.each([
  ["that goes on", false],
  ["that is over", true]
])("a burst of a call %s is passed on by and by, in its order", async (_name, isOver) => {
  const passed: Array<readonly [run: number, first: number]> = []
  let run = 0
  let isRunning = false
  const push = (chunk: Uint8Array) => {
    if (!isRunning) {
      run++
      isRunning = true
      setImmediate(() => (isRunning = false))
    }
    passed.push([run, chunk[0]!])
  }
  let finished: FinishedCall | undefined
  const listener = { finished: (call: FinishedCall) => (finished = call), dropped: expect.unreachable }
  const call = new Call(request, new Budget(10_000_000), listener, new Set())
  call.answered(200, { push, end: () => "{}" }, 60_000)
  for (let n = 0; n < 200; n++) call.push(new Uint8Array(1024).fill(n))
  call.push(new Uint8Array(1024 * 1024).fill(200))
  call.push(new Uint8Array(1).fill(201))
  if (!isOver) {
    while (passed.length < 202) await new Promise(setImmediate)
  }
  call.end()
  expect(await finished!.output("{}")).toBe("{}")
  expect(passed.map(([, first]) => first)).toEqual(Array.from({ length: 202 }, (_, n) => n))
  const runs = Map.groupBy(passed, ([run]) => run)
  // 32 of 1 KiB at a time, at most two times within a turn; the last eight with the long one.
  for (const chunks of runs.values()) expect(chunks.length).toBeLessThanOrEqual(64)
  expect(runs.size).toBeGreaterThan(3)
})

it("holds an answer in many small chunks within its budget", async () => {
  const budget = new Budget(1024 * 1024)
  let finished: FinishedCall | undefined
  const listener = { finished: (call: FinishedCall) => (finished = call), dropped: expect.unreachable }
  const call = new Call(request, budget, listener, new Set())
  call.answered(200, textKeeper(), 60_000)
  const text = JSON.stringify({ text: "é".repeat(20_000) })
  const bytes = Buffer.from(text)
  for (const [n, byte] of bytes.entries()) {
    call.push(Uint8Array.of(byte))
    // What waits takes more than its bytes.
    if (n % 1000 === 0) expect(budget.held).toBeGreaterThan(256 * (n % 1000))
    if (n % 1000 === 999) await new Promise(setImmediate)
  }
  while (budget.held > bytes.length) await new Promise(setImmediate)
  expect(budget.held).toBe(bytes.length)
  call.end()
  expect(await finished!.output("{}")).toBe(text)
  finished!.release()
  expect(budget.held).toBe(0)
})

it("is not recorded where its small chunks take more than the budget has", () => {
  const budget = new Budget(1024 * 1024)
  const dropped: Array<string> = []
  const listener = { finished: () => expect.unreachable(), dropped: (reason: string) => dropped.push(reason) }
  const call = new Call(request, budget, listener, new Set())
  call.answered(200, textKeeper(), 60_000)
  const most = Math.floor((1024 * 1024) / 257)
  for (let n = 0; n < most; n++) call.push(Uint8Array.of(n))
  expect(dropped).toEqual([])
  call.push(Uint8Array.of(0))
  expect([dropped, budget.held]).toEqual([["memory"], 0])
})
