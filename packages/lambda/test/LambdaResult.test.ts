import { gzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import { fromResponse } from "../src/LambdaResult.ts"

const cookies = ["a=1; Path=/", "b=2; Expires=Wed, 21 Oct 2037 07:28:00 GMT"]

const response = () => {
  const headers = new Headers({ "content-type": "application/json", connection: "close" })
  for (const cookie of cookies) headers.append("set-cookie", cookie)
  return new Response(`{"é":1}`, { status: 404, headers })
}

describe("LambdaResult", () => {
  it("formats headers and status for each gateway", async () => {
    const common = { statusCode: 404, body: `{"é":1}`, isBase64Encoded: false }
    const json = { "content-type": "application/json" }
    expect(await fromResponse(response(), { headers: "cookies", hasStatusDescription: false })).toEqual({
      ...common,
      headers: json,
      cookies
    })
    expect(await fromResponse(response(), { headers: "multi", hasStatusDescription: false })).toEqual({
      ...common,
      multiValueHeaders: { "content-type": ["application/json"], "set-cookie": cookies }
    })
    expect(await fromResponse(response(), { headers: "multi", hasStatusDescription: true })).toEqual({
      ...common,
      statusDescription: "404 Not Found",
      multiValueHeaders: { "content-type": ["application/json"], "set-cookie": cookies }
    })
    expect(await fromResponse(response(), { headers: "single", hasStatusDescription: true })).toEqual({
      ...common,
      statusDescription: "404 Not Found",
      headers: { ...json, "set-cookie": cookies[1] }
    })
  })

  it.each([
    ["text", Buffer.from("\ufeffé😀\u0000"), false],
    ["nothing", Buffer.alloc(0), false],
    ["compressed", gzipSync("x"), true],
    ["binary", Buffer.from([0, 0xff]), true]
  ])("encodes the body in base64 unless it is UTF-8: %s", async (_, bytes, isBase64Encoded) => {
    const result = await fromResponse(new Response(bytes), { headers: "single", hasStatusDescription: false })
    expect(result.isBase64Encoded).toBe(isBase64Encoded)
    expect(Buffer.from(result.body, isBase64Encoded ? "base64" : "utf8").equals(bytes)).toBe(true)
  })
})
