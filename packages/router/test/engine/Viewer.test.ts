import { HttpClient } from "@tachograph/testkit"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import { opened } from "../Samples.ts"
import { served } from "../Served.ts"

const encodings = [
  ["br", brotliDecompressSync],
  ["gzip", gunzipSync]
] as const

describe("the viewer", () => {
  it("is left out with `viewer: false`: its paths are the host's", async () => {
    const tachograph = await opened({ viewer: false })
    const client = HttpClient.make(tachograph.fetch, undefined)
    for (const path of ["/viewer", "/viewer/", "/viewer/assets/index.js"]) {
      expect((await client.get(path)).status).toBe(404)
      expect((await client.call("POST", path)).status).toBe(404)
    }
    expect((await client.get("/docs")).text).not.toContain("viewer/#/docs")
    const host = await served((request, response) => tachograph.node(request, response, () => response.end("the host")))
    expect(await (await fetch(`http://127.0.0.1:${host.port}/viewer/`)).text()).toBe("the host")
    await tachograph.close()
    expect(await (await fetch(`http://127.0.0.1:${host.port}/viewer/`)).text()).toBe("the host")
  })

  it.each(encodings)(
    "is sent in %s as it is sent uncompressed, with the same validator",
    async (encoding, decompress) => {
      const client = HttpClient.make((await opened()).fetch, undefined)
      const plain = await client.get("/viewer/")
      const packed = await client.call("GET", "/viewer/", undefined, { "accept-encoding": `zstd, ${encoding}` })
      expect(packed.headers.get("content-encoding")).toBe(encoding)
      expect(packed.headers.get("etag")).toBe(plain.headers.get("etag"))
      expect(decompress(packed.bytes).toString()).toBe(plain.text)
    }
  )
})
