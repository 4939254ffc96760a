import { describe, expect, it } from "vitest"
import type { HttpCall } from "../src/LambdaEvent.ts"
import { eventOf, toRequest } from "../src/LambdaRequest.ts"

const call = (fields: Partial<HttpCall>): HttpCall => ({
  method: "GET",
  target: "/",
  headers: [],
  body: undefined,
  event: undefined,
  resultFormat: { headers: "single", hasStatusDescription: false },
  ...fields
})

describe("LambdaRequest", () => {
  it("keeps the method and the target of the event unchanged", () => {
    for (const method of ["GET", "TRACE", "CONNECT", "patch"]) {
      const body = new TextEncoder().encode("{}")
      const request = toRequest(call({ method, target: "/a/../%2E%2E/é b?x=#y", body }))
      expect([request.method, request.url]).toEqual([method, "http://localhost/a/../%2E%2E/é b?x=#y"])
    }
  })

  it("has header values with one character per byte, as in Node", () => {
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

  it("sets Content-Length to the length of the body", async () => {
    const headers = [["Content-Length", "7"]] as const
    const body = new TextEncoder().encode("é")
    const request = toRequest(call({ method: "POST", headers, body }))
    expect(request.headers.get("content-length")).toBe("2")
    expect(new Uint8Array(await request.arrayBuffer())).toEqual(body)
    const empty = toRequest(call({ method: "POST", headers }))
    expect([empty.headers.get("content-length"), empty.body]).toEqual([null, null])
  })

  it("prefers to wait for no longer than a gateway does, whatever its client prefers", () => {
    const preferred = (...values: ReadonlyArray<string>) =>
      toRequest(call({ headers: values.map((value) => ["Prefer", value] as const) })).headers.get("prefer")
    expect(preferred()).toBe("wait=10")
    expect(preferred("respond-async")).toBe("wait=10")
    expect(preferred("respond-async", "wait=30")).toBe("wait=10")
    expect(preferred("respond-async; x, wait=3")).toBe("wait=3")
  })

  it("returns the event of a request, and undefined for other requests", () => {
    const event = { requestContext: {} }
    expect(eventOf(toRequest(call({ event })))).toBe(event)
    expect(eventOf(new Request("http://localhost/"))).toBeUndefined()
  })

  it("rejects invalid headers", () => {
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
