import { describe, expect, it } from "vitest"
import type { HttpCall } from "../src/LambdaEvent.ts"
import { eventOf, toRequest } from "../src/LambdaRequest.ts"

const call = (fields: Partial<HttpCall>): HttpCall => ({
  method: "GET",
  target: "/",
  headers: [],
  body: undefined,
  event: undefined,
  answer: { headers: "single", describesStatus: false },
  ...fields
})

describe("A request", () => {
  it("has the method and the target of the event to the letter", () => {
    for (const method of ["GET", "TRACE", "CONNECT", "patch"]) {
      const body = new TextEncoder().encode("{}")
      const request = toRequest(call({ method, target: "/a/../%2E%2E/é b?x=#y", body }))
      expect([request.method, request.url]).toEqual([method, "http://localhost/a/../%2E%2E/é b?x=#y"])
    }
  })

  it("has its headers as Node reads them: a character for each byte", () => {
    const { headers } = toRequest(
      call({
        headers: [
          ["X-Word", "ключ"],
          ["X-Word", "é"]
        ]
      })
    )
    expect(Buffer.from(headers.get("x-word")!, "latin1").toString("utf8")).toBe("ключ, é")
  })

  it("says how long its body is, whatever the event says", async () => {
    const headers = [["Content-Length", "7"]] as const
    const body = new TextEncoder().encode("é")
    const request = toRequest(call({ method: "POST", headers, body }))
    expect(request.headers.get("content-length")).toBe("2")
    expect(new Uint8Array(await request.arrayBuffer())).toEqual(body)
    const empty = toRequest(call({ method: "POST", headers }))
    expect([empty.headers.get("content-length"), empty.body]).toEqual([null, null])
  })

  it("knows its event, and no other request does", () => {
    const event = { requestContext: {} }
    expect(eventOf(toRequest(call({ event })))).toBe(event)
    expect(eventOf(new Request("http://localhost/"))).toBeUndefined()
  })

  it("cannot have what is no header", () => {
    for (const header of [
      ["a b", "x"],
      ["", "x"],
      ["a", "x\ny"],
      ["a", "\u0000"]
    ] as const) {
      expect(() => toRequest(call({ headers: [header] }))).toThrow(TypeError)
    }
  })
})
