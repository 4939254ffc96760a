/** `tachograph serve --proxy`. */
import { createServer } from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { expect, it, onTestFinished, vi } from "vitest"
import { expectUsageError, runInProcess, serveInProcess } from "../CommandLine.ts"

/** How many calls of the proxy were recorded. */
const recorded = async (url: string): Promise<number> => {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/proxy_calls_total\{outcome="recorded"\} (\d+)/.exec(metrics)?.[1] ?? 0)
}

it("passes calls to the providers of --upstream on, and records them", async () => {
  const provider = createServer((request, response) => void response.end(JSON.stringify({ url: request.url })))
  await once(provider.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => void provider.close())
  const base = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`
  const url = await serveInProcess(
    [
      "--storage",
      "memory:",
      "--proxy",
      "--proxy-open",
      "--upstream",
      `local=${base}`,
      "--upstream",
      `openai=${base}/x`
    ],
    "1 minute"
  )
  // Counted by this process, in which other tests may have run before.
  const before = await recorded(url)
  for (const [name, path] of [
    ["local", "/v1/chat/completions"],
    ["openai", "/v1/x/chat/completions"]
  ]) {
    const response = await fetch(`${url}/proxy/${name}/chat/completions`, { method: "POST", body: `{"messages":[]}` })
    expect(await response.json()).toEqual({ url: path })
  }
  await vi.waitFor(async () => expect(await recorded(url)).toBe(before + 2), { timeout: 60_000, interval: 20 })
  expect((await fetch(`${url}/proxy/other/chat/completions`)).status).toBe(404)
})

it.each([
  [["--proxy", "--upstream", "x=ftp://provider"], "--upstream is invalid: expected NAME=URL"],
  [["--proxy", "--upstream", "https://provider"], "--upstream is invalid: expected NAME=URL"],
  [["--proxy", "--upstream", "x=https://user:planted@provider"], "--upstream is invalid: expected NAME=URL"],
  [["--proxy", "--upstream", "X/y=https://provider"], "--upstream is invalid: expected NAME=URL"],
  [["--upstream", "x=https://provider"], "--upstream needs --proxy"],
  [["--proxy-open"], "--proxy-open needs --proxy"],
  [["--proxy", "--proxy-idle-timeout", "0s"], "--proxy-idle-timeout"]
])("refuses %j", async (args, message) => {
  const finished = await runInProcess(["serve", "--storage", "memory:", ...args])
  expectUsageError(finished, message)
  expect(finished.stderr).not.toContain("planted")
})

it("takes its options from the environment as well", async () => {
  const run = (env: Readonly<Record<string, string>>) => runInProcess(["serve", "--storage", "memory:"], env)
  expectUsageError(await run({ TACHOGRAPH_PROXY: "1" }), "TACHOGRAPH_PROXY")
  const upstreams = "good=https://provider bad"
  expectUsageError(await run({ TACHOGRAPH_PROXY: "yes", TACHOGRAPH_UPSTREAM: upstreams }), "TACHOGRAPH_UPSTREAM")
})
