import { expect, it } from "vitest"
import { Budget } from "../../src/delivery/Budget.ts"
import { Call, type FinishedCall } from "../../src/tap/Call.ts"
import type { CapturedRequest } from "../../src/tap/CapturedRequest.ts"

const request: CapturedRequest = {
  apiOf: () => "provider1-responses",
  url: new URL("http://127.0.0.1/responses"),
  bytes: 0,
  keep: () => {},
  leave: () => {},
  text: () => "{}",
  secrets: () => []
}

it.each([
  ["that goes on", false],
  ["that is over", true]
])("a burst of a call %s is passed on by and by, in its order", async (_name, isOver) => {
  let turn = 0
  let isCounting = true
  const count = () => {
    turn++
    if (isCounting) setImmediate(count)
  }
  count()
  const passed: Array<readonly [turn: number, first: number, bytes: number]> = []
  let finished: FinishedCall | undefined
  const listener = { finished: (call: FinishedCall) => (finished = call), dropped: expect.unreachable }
  const call = new Call(request, new Budget(10_000_000), listener, new Set())
  call.answered(200, { push: (chunk) => passed.push([turn, chunk[0]!, chunk.length]), end: () => "{}" }, 60_000)
  for (let n = 0; n < 200; n++) call.push(new Uint8Array(1024).fill(n))
  call.push(new Uint8Array(1024 * 1024).fill(200))
  call.push(new Uint8Array(1).fill(201))
  if (!isOver) {
    while (passed.length < 202) await new Promise(setImmediate)
  }
  call.end()
  expect(await finished!.output()).toBe("{}")
  isCounting = false
  expect(passed.map(([, first]) => first)).toEqual(Array.from({ length: 202 }, (_, n) => n))
  const turns = Map.groupBy(passed, ([turn]) => turn)
  const chunks = Array.from(turns.values(), ({ length }) => length)
  // 32 of 1 KiB; the last eight of them with the long one, and the one after it alone.
  expect(chunks).toEqual([32, 32, 32, 32, 32, 32, 9, 1])
})
