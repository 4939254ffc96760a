import { HttpClient } from "@tachograph/testkit"
import { renameSync } from "node:fs"
import { join } from "node:path"
import { expect, it, onTestFinished, vi } from "vitest"
import { run, temporaryFolder } from "../TachographProcess.ts"
import * as OidcProvider from "./OidcProvider.ts"
import { apiKey, freePort, start, startAt } from "./Served.ts"
import { Visitor } from "./Visitor.ts"

it("starts without the provider, says that signing in does not work, and heals by itself", async () => {
  const [port, providerPort] = [await freePort(), await freePort()]
  const { url } = await startAt(port, `http://127.0.0.1:${providerPort}`)
  const ann = new Visitor(url)
  const answer = await ann.ask("/login")
  expect(answer.status).toBe(503)
  expect(answer.text).toContain("The identity provider does not answer")
  expect((await HttpClient.open(url, apiKey).get("/api/v1/me")).status).toBe(200)
  await OidcProvider.start(url, { port: providerPort })
  await ann.signIn("ann")
  expect((await ann.api("GET", "/me")).status).toBe(200)
})

it("says it where the provider does not answer at the end, and signs nobody in", async () => {
  const { provider, url } = await start()
  const ann = new Visitor(url)
  const back = await ann.comeBackAs("ann")
  provider.forge = () => {
    throw new Error("the provider breaks")
  }
  const answer = await ann.ask(back)
  expect([answer.status, ann.cookies.has("__Host-tachograph")]).toEqual([503, false])
  provider.forge = undefined
  await ann.signIn("ann")
})

it("says it where an answer at the end begins and does not end", async () => {
  const { provider, url } = await start()
  const ann = new Visitor(url)
  const back = await ann.comeBackAs("ann")
  provider.endless = "/token"
  // Sooner than a person would wait.
  const timeout = AbortSignal.timeout.bind(AbortSignal)
  const hurried = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => timeout(1_000))
  onTestFinished(() => hurried.mockRestore())
  const answer = await ann.ask(back)
  expect([answer.status, ann.cookies.has("__Host-tachograph")]).toEqual([503, false])
  expect(answer.text).toContain("The identity provider does not answer")
  hurried.mockRestore()
  provider.endless = undefined
  await ann.signIn("ann")
})

it.each([
  ["/.well-known/openid-configuration", "/login", 503],
  ["/jwks", undefined, 403],
  ["/token", undefined, 403],
  ["/me", undefined, 403]
])("takes 1 MiB of what the provider answers at %s, and no more", async (path, at, status) => {
  const { output, provider, url } = await start()
  const ann = new Visitor(url)
  provider.padding = { path, bytes: 2 ** 20 }
  const answer = await ann.ask(at ?? (await ann.comeBackAs("ann")))
  expect([answer.status, ann.cookies.has("__Host-tachograph")]).toEqual([status, false])
  expect(Object.values(output()).join("")).toContain("ANSWER_TOO_LARGE")
  provider.padding = { path, bytes: 2 ** 20 - 8_192 }
  await ann.signIn("ann")
})

it("signs nobody in or out while the storage is away, and says so", async () => {
  const file = join(temporaryFolder(), "tachograph.db")
  const { url } = await start({}, { args: ["--storage", `sqlite:${file}`] })
  const [ann, ben] = [new Visitor(url), new Visitor(url)]
  await ann.signIn("ann")
  const back = await ben.comeBackAs("ben")
  renameSync(file, `${file}.away`)
  const answer = await ben.ask(back)
  expect([answer.status, ben.cookies.has("__Host-tachograph")]).toEqual([503, false])
  expect(answer.text).toContain("The database of the server does not answer")
  const leaving = await ann.ask("/logout", { method: "POST", headers: { origin: url } })
  // It would be no end, so the browser keeps the cookie, to try again.
  expect([leaving.status, ann.cookies.has("__Host-tachograph")]).toEqual([503, true])
})

it("keeps people signed in over a restart and in several servers, and signs them out of all", async () => {
  const args = ["--storage", `sqlite:${join(temporaryFolder(), "tachograph.db")}`]
  const { port, provider, stop, url } = await start({}, { args })
  const ann = new Visitor(url)
  await ann.signIn("ann")
  await stop()
  const first = await startAt(port, provider.url, { args })
  const second = await startAt(await freePort(), provider.url, { args, cacheTtl: "100 millis" })
  const elsewhere = new Visitor(second.url, ann.cookies)
  expect((await ann.api("GET", "/me")).status).toBe(200)
  expect((await elsewhere.api("GET", "/me")).status).toBe(200)
  // Another secret than the one that sealed it.
  const other = await startAt(await freePort(), provider.url, {
    args,
    env: { TACHOGRAPH_OIDC_CLIENT_SECRET: "another" }
  })
  expect((await new Visitor(other.url, ann.cookies).api("GET", "/me")).status).toBe(401)
  const listed = async () => (await run(["keys", "list", ...args])).stdout
  expect(await listed()).toMatch(/^signin_\w+ +default +ann@example\.com \(ann\) +read +valid until /m)
  await ann.ask("/logout", { method: "POST", headers: { origin: first.url } })
  expect(await listed()).not.toContain("signin_")
  await vi.waitFor(async () => expect((await elsewhere.api("GET", "/me")).status).toBe(401), { timeout: 60_000 })
})
