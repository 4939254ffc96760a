import { describe, expect, it } from "vitest"
import { createTachograph, type TachographOptions } from "../../src/index.ts"
import { MemoryStorage } from "@tachograph/core"

describe("the option proxy", () => {
  it.each([
    ["yes", "proxy: expected true, false, or an object of options"],
    [1, "proxy: expected true, false, or an object of options"],
    [[], "proxy: expected true, false, or an object of options"],
    [
      { upstream: {} },
      "proxy.upstream: there is no such option; there are upstreams, open, connectTimeoutMs, idleTimeoutMs, maxHeldBytes"
    ],
    [{ upstreams: "openai=http://user:planted@host" }, "proxy.upstreams: expected an object of URLs by name"],
    [{ upstreams: [] }, "proxy.upstreams: expected an object of URLs by name"],
    [{ upstreams: { x: "https://user:planted@host" } }, 'upstream "x": expected a name of'],
    [{ open: "yes" }, "proxy.open: expected true or false"],
    [{ maxHeldBytes: "64" }, "proxy.maxHeldBytes: expected a number above 0"]
  ])("is refused where it is %j", async (proxy, message) => {
    const options = { storage: MemoryStorage.layer, proxy } as unknown as TachographOptions<never>
    const error = await createTachograph(options).then(
      (tachograph) => tachograph.close(),
      (error: unknown) => error
    )
    expect(error).toBeInstanceOf(TypeError)
    expect((error as Error).message.startsWith(message)).toBe(true)
    expect((error as Error).message).not.toContain("planted")
  })

  it.each([undefined, false, true, {}, { open: true, upstreams: undefined }])("may be %j", async (proxy) => {
    const tachograph = await createTachograph({ storage: MemoryStorage.layer, proxy })
    await tachograph.close()
  })
})
