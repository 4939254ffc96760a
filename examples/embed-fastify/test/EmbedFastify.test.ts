import { expect, it, vi } from "vitest"
import * as Embedded from "../../test/Embedded.ts"

const example = {
  program: new URL("../src/main.ts", import.meta.url),
  base: "/tachograph",
  hello: "Hello from Fastify\n",
  none: { status: 404, text: expect.stringContaining("Route GET:/none not found") }
}

Embedded.suite(example, (app) => {
  it("logs Tachograph's requests with its own", async () => {
    await app().call("/none", Embedded.key)
    await app().call("/tachograph/api/v1/events", "nobody's")
    await app().call("/tachograph/api/v1/events", Embedded.key)
    const answered = () =>
      app()
        .output()
        .split("\n")
        .filter((line) => line.includes("request completed"))
        .map((line) => JSON.parse(line).res.statusCode)
    // The first request is the start-up check in `run`.
    await vi.waitFor(() => expect(answered()).toEqual([200, 404, 401, 200]), { timeout: 60_000 })
  })
})
