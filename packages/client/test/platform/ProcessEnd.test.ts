import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { expect, it } from "vitest"
import { flushAtEnd } from "../../src/platform/ProcessEnd.ts"

it("keeps no trace of recorders that are forgotten", async () => {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as () => void
  const add = () =>
    flushAtEnd({ isBusy: () => false, endCalls: () => {}, flush: async () => true, exit: () => {} }, true)
  const known = () => (process as unknown as Record<symbol, Set<unknown>>)[Symbol.for("tachograph.process-end")]!.size
  add()
  // Other tests of this process may hold recorders.
  const before = known()
  for (let n = 0; n < 100; n++) add()
  // What was looked at weakly is held until the end of the turn.
  await new Promise((resolve) => setTimeout(resolve, 0))
  collect()
  add()
  expect(known()).toBeLessThan(before + 50)
})
