import { expect, it } from "vitest"
import { Copies, CopyBudget } from "../../src/proxy/Copies.ts"

it("keeps nothing that comes when the call is over", () => {
  const budget = new CopyBudget(100_000)
  const copies = new Copies(budget, 100_000, ["accept", "*/*"], "/chat/completions")
  copies.head(401, ["server", "one"])
  copies.request(Buffer.from("request"))
  copies.response(Buffer.from("answer"))
  const heard = copies.end()
  expect(heard).toEqual({
    status: 401,
    firstByteAtMs: expect.any(Number),
    isRequestWhole: false,
    requestHeaders: ["accept", "*/*"],
    responseHeaders: ["server", "one"]
  })
  const before = [{ ...heard }, copies.requestBytes, Buffer.from(copies.joined()), budget.held]
  copies.requestEnded()
  copies.request(Buffer.from("more"))
  copies.head(200, ["name", "value"])
  copies.response(Buffer.from("more"))
  expect(copies.end()).toMatchObject({ status: 401, isRequestWhole: false })
  expect([heard, copies.requestBytes, Buffer.from(copies.joined()), budget.held]).toEqual(before)
  copies.release()
  copies.request(Buffer.from("still more"))
  expect(budget.held).toBe(0)
})
