/** The configurations of `docs/reverse-proxy.md`, as the page has them, by the programs that this machine has. */
import { Certificate } from "@tachograph/testkit"
import { beforeAll, describe, expect, it } from "vitest"
import { blocks } from "./Documented.ts"
import { faultsOf, look, namesOf } from "./Findings.ts"
import * as FrontProgram from "./FrontProgram.ts"
import { serve, temporaryFolder } from "./TachographProcess.ts"

Certificate.trust()

const key = "a key for what stands in front"

let server: string

// With the proxy, which needs no key on this machine.
beforeAll(async () => {
  // Bodies of the limit may take long where many programs share the machine.
  const args = [
    "--port",
    "0",
    "--storage",
    "memory:",
    "--request-timeout",
    "2m",
    "--proxy",
    "--proxy-open",
    "--upstream",
    "none=http://127.0.0.1:9"
  ]
  server = (await serve(args, { env: { TACHOGRAPH_API_KEY: key } })).url
})

/** What `tachograph doctor` finds of an address. */
const lookAt = (url: string, maxBody = "2MiB") => {
  const storage = ["--storage", `sqlite:${temporaryFolder()}/none.db`]
  return look(["--url", url, "--max-body", maxBody, ...storage], { TACHOGRAPH_API_KEY: key })
}

/** The storage that it is given does not exist. */
const none = [expect.stringMatching(/^warning storage: /)]

const [present, missing] = [true, false].map((is) =>
  FrontProgram.everyFront.filter((front) => FrontProgram.has(front) === is)
) as [typeof FrontProgram.everyFront, typeof FrontProgram.everyFront]

const withNginx = present.includes(FrontProgram.nginx) ? it : undefined

describe(`docs/reverse-proxy.md${missing.map(({ program }) => ` (${program} is not installed, so its part does not run)`).join("")}`, () => {
  it.each(present)("has a configuration for $program that passes all that clients send", async (front) => {
    const url = await FrontProgram.start(front, server)
    expect(faultsOf((await lookAt(url, "32MiB")).found)).toEqual(none)
    // `--proxy-open` is for this machine, and not for what comes through it.
    expect((await fetch(`${url}/proxy/none/models`)).status).toBe(401)
    expect((await fetch(`${server}/proxy/none/models`)).status).toBe(502)
    expect((await fetch(`${url}/metrics`)).status).toBe(404)
    const agent = `${url}/api/v1/agents/${encodeURIComponent("team/support é")}`
    const missing = await fetch(agent, { headers: { authorization: `Bearer ${key}` } })
    expect([missing.status, await missing.text()]).toEqual([404, `{"type":"agent-not-found"}`])
  })

  it("says of each program where its configuration is", () => {
    const written = FrontProgram.everyFront.map(({ language }) => blocks("reverse-proxy.md", language).length > 0)
    expect(written).toEqual(FrontProgram.everyFront.map(() => true))
  })

  withNginx?.("has lines that nginx needs: doctor says which are missing", async () => {
    const without = (text: string) =>
      text
        .replaceAll(/client_max_body_size \w+;/g, "")
        .replaceAll("proxy_buffering off;", "proxy_ignore_headers X-Accel-Buffering;")
    const { code, found } = await lookAt(await FrontProgram.start(FrontProgram.nginx, server, without))
    expect([code, namesOf(found, "problem")]).toEqual([1, ["body", "stream"]])
    expect(found["body"]!.mend).toContain("client_max_body_size")
  })

  withNginx?.("has one for nginx below a path", async () => {
    const [, below] = blocks("reverse-proxy.md", "nginx")
    const inside = (text: string) => text.replace(/  location \/ \{[^}]*\}/, below!)
    const url = await FrontProgram.start(FrontProgram.nginx, server, inside)
    expect(faultsOf((await lookAt(`${url}/tachograph`)).found)).toEqual(none)
  })
})
