import { HttpClient } from "@tachograph/testkit"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { apiKey, start } from "./Served.ts"
import { Visitor } from "./Visitor.ts"

const cookie = "__Host-tachograph"

describe("signing in", () => {
  it("leads to the provider and back, and opens what the groups of the person say", async () => {
    const { provider, url } = await start()
    const ann = new Visitor(url)
    expect((await ann.api("GET", "/sign-in")).body).toEqual({ by: "oidc", login: "/login", logout: "/logout" })
    expect((await ann.api("GET", "/me")).status).toBe(401)
    const back = await ann.comeBackAs("ann")
    const [asked] = provider.asked
    expect(Object.fromEntries(asked!)).toMatchObject({ response_type: "code", code_challenge_method: "S256" })
    for (const name of ["state", "nonce", "code_challenge"]) expect(asked!.get(name)!.length).toBeGreaterThan(40)
    const answer = await ann.ask(back)
    const [ended, session, idToken] = answer.headers.getSetCookie()
    expect(ended).toBe(`${cookie}-login=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0`)
    expect(session).toMatch(/^__Host-tachograph=[\w-]+; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=43200$/)
    expect(idToken).toMatch(/^__Secure-tachograph-id=[\w.-]+; Path=\/logout; Secure; HttpOnly; SameSite=Strict; /)
    const me = await ann.api("GET", "/me")
    expect(me.body).toMatchObject({ project: "default", scopes: ["read"], actor: "ann@example.com (ann)" })
    expect((await ann.api("DELETE", "/people/nobody")).status).toBe(403)
    expect((await ann.api("PUT", "/agents")).status).toBe(403)
  })

  it("adds up the scopes of groups in the project of the first that fits, and names people in the audit log", async () => {
    const { url } = await start({ isGroupsInToken: true })
    const [ben, cas] = [new Visitor(url), new Visitor(url)]
    await ben.signIn("ben")
    expect((await ben.api("GET", "/me")).body).toMatchObject({
      project: "default",
      scopes: ["read", "record", "admin"]
    })
    await cas.signIn("cas")
    expect((await cas.api("GET", "/me")).body).toMatchObject({ project: "the acme: project", scopes: ["read"] })
    const client = HttpClient.open(url, apiKey)
    await client.put("/api/v1/people", { person_id: "gone" })
    expect((await ben.api("DELETE", "/people/gone")).status).toBe(200)
    const { entries } = (await ben.api("GET", "/audit")).body
    const name = "ben@example.com (ben)"
    expect(entries.map(({ action, actor }: Record<string, string>) => [action, actor])).toEqual([
      ["person-erased", name],
      ["person-erasure", name],
      ["key-created", name]
    ])
  })

  it.each(["dee", "eve"])("shows a page to %s, who has no group that opens anything", async (login) => {
    const { provider, url } = await start()
    const visitor = new Visitor(url)
    const answer = await visitor.ask(await visitor.comeBackAs(login))
    expect(answer.status).toBe(403)
    expect(answer.text).toContain(`knows you as ${login}@example.com (${login})`)
    expect(visitor.cookies.has(cookie)).toBe(false)
    expect((await visitor.api("GET", "/me")).status).toBe(401)
    const [, again] = /href="([^"]+)"/.exec(answer.text)!
    await visitor.comeBackAs("ann", again)
    expect(provider.asked.map((query) => query.get("prompt"))).toEqual([null, "login"])
  })

  it("says it where the provider lets nobody in", async () => {
    const { url } = await start()
    const visitor = new Visitor(url)
    const answer = await visitor.ask(await visitor.comeBackAs(""))
    expect([answer.status, visitor.cookies.has(cookie)]).toEqual([403, false])
    expect(answer.text).toContain("access_denied")
  })

  it("leaves keys to programs, and does not take them from cookies", async () => {
    const { url } = await start()
    const ann = new Visitor(url)
    await ann.signIn("ann")
    const asKey = (key: string) => HttpClient.open(url, key).get("/api/v1/me")
    expect((await asKey(apiKey)).body).toMatchObject({ scopes: ["admin"], actor: "static key" })
    expect((await asKey(ann.cookies.get(cookie)!)).status).toBe(401)
    expect((await new Visitor(url, [[cookie, apiKey]]).api("GET", "/me")).status).toBe(401)
    // A key that is sent decides alone.
    const headers = { authorization: "Bearer wrong", "sec-fetch-site": "same-origin" }
    expect((await ann.api("GET", "/me", headers)).status).toBe(401)
  })

  it.each(["at /login", "at /callback"])(
    "ends the sign-in before it, whose cookie the browser sends %s",
    async (at) => {
      const { url } = await start()
      const ann = new Visitor(url)
      await ann.signIn("ann")
      const before = new Visitor(url, ann.cookies)
      const other = new Visitor(url)
      await other.signIn("ann")
      const session = ann.cookies.get(cookie)!
      if (at === "at /callback") ann.cookies.delete(cookie)
      const back = await ann.comeBackAs("ben", "/login?again")
      expect((await before.api("GET", "/me")).status).toBe(200)
      if (at === "at /login") ann.cookies.delete(cookie)
      else ann.cookies.set(cookie, session)
      expect((await ann.ask(back)).status).toBe(302)
      expect((await ann.api("GET", "/me")).status).toBe(200)
      expect((await before.api("GET", "/me")).status).toBe(401)
      expect((await other.api("GET", "/me")).status).toBe(200)
    }
  )

  it("takes ten minutes at most", async () => {
    vi.useFakeTimers({ toFake: ["Date"] })
    onTestFinished(() => void vi.useRealTimers())
    const { url } = await start()
    const ann = new Visitor(url)
    const begun = Date.now()
    const back = await ann.comeBackAs("ann")
    const cookies = Array.from(ann.cookies)
    vi.setSystemTime(Date.now() + 10 * 60_000 + 1)
    const answer = await ann.ask(back)
    expect([answer.status, ann.cookies.has(cookie)]).toEqual([400, false])
    // The code would be good still.
    vi.setSystemTime(begun)
    expect((await new Visitor(url, cookies).ask(back)).status).toBe(302)
  })

  it("leads to paths below the one under which browsers find the server", async () => {
    const { url } = await start({}, { args: ["--storage", "memory:", "--oidc-url", "https://host.example/tacho/"] })
    const ann = new Visitor(url)
    const { body } = await ann.api("GET", "/sign-in")
    expect(body).toEqual({ by: "oidc", login: "/tacho/login", logout: "/tacho/logout" })
    const { location } = await ann.ask("/login")
    expect(new URL(location!).searchParams.get("redirect_uri")).toBe("https://host.example/tacho/callback")
    expect((await ann.ask("/callback")).text).toContain('href="/tacho/login"')
  })
})

describe("signing out", () => {
  it("ends it at the server, for copies of the cookie too, and leads to where the provider ends its part", async () => {
    const { provider, url } = await start()
    const ann = new Visitor(url)
    await ann.signIn("ann")
    const copy = new Visitor(url, ann.cookies)
    expect((await copy.api("GET", "/me")).status).toBe(200)
    const answer = await ann.ask("/logout", { method: "POST", headers: { "sec-fetch-site": "same-origin" } })
    const end = new URL(JSON.parse(answer.text).location)
    expect([answer.status, end.origin, end.pathname]).toEqual([200, provider.url, "/session/end"])
    expect(end.searchParams.get("post_logout_redirect_uri")).toBe(`${url}/viewer/`)
    expect((await ann.ask(end.href)).status).toBe(200)
    expect(Array.from(ann.cookies.keys()).filter((name) => name.includes("tachograph"))).toEqual([])
    expect((await copy.api("GET", "/me")).status).toBe(401)
    const { body } = await HttpClient.open(url, apiKey).get("/api/v1/audit")
    expect(body.entries.map(({ action, actor }: Record<string, string>) => [action, actor])).toEqual([
      ["key-revoked", "ann@example.com (ann)"],
      ["key-created", "ann@example.com (ann)"]
    ])
    const twice = await copy.ask("/logout", { method: "POST", headers: { "sec-fetch-site": "same-origin" } })
    expect(twice.status).toBe(200)
    expect((await ann.ask("/logout")).status).toBe(405)
  })

  it("ends a stream that is open", async () => {
    const { url } = await start()
    const ann = new Visitor(url)
    await ann.signIn("ann")
    const { next_cursor } = (await ann.api("GET", "/events/stream?wait=0")).body
    const stream = ann.ask(`/api/v1/events/stream?cursor=${encodeURIComponent(next_cursor)}`, {
      headers: { accept: "application/x-ndjson", "sec-fetch-site": "same-origin" }
    })
    await ann.ask("/logout", { method: "POST", headers: { "sec-fetch-site": "same-origin" } })
    expect((await stream).status).toBe(200)
  })

  it("ends by itself when its time is over", async () => {
    vi.useFakeTimers({ toFake: ["Date"] })
    onTestFinished(() => void vi.useRealTimers())
    const { url } = await start({}, { args: ["--storage", "memory:", "--oidc-session", "30m"] })
    const ann = new Visitor(url)
    await ann.signIn("ann")
    vi.setSystemTime(Date.now() + 30 * 60_000 - 1_000)
    expect((await ann.api("GET", "/me")).status).toBe(200)
    vi.setSystemTime(Date.now() + 1_001)
    expect((await ann.api("GET", "/me")).status).toBe(401)
  })
})

describe("a page of another site", () => {
  it("does nothing with the cookie, nor does what says of no page that sent it", async () => {
    const { url } = await start()
    const ben = new Visitor(url)
    await ben.signIn("ben")
    const forged: ReadonlyArray<Record<string, string>> = [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: "https://elsewhere.example" },
      { origin: "null" },
      { origin: url.replace("127.0.0.1", "localhost") }
    ]
    for (const headers of forged) {
      expect((await ben.api("GET", "/me", headers)).status).toBe(401)
      expect((await ben.api("DELETE", "/people/nobody", headers)).status).toBe(401)
      expect((await ben.ask("/logout", { method: "POST", headers })).status).toBe(403)
    }
    expect((await ben.api("DELETE", "/people/nobody", {})).status).toBe(401)
    expect((await ben.ask("/logout", { method: "POST" })).status).toBe(403)
    expect((await ben.ask("/logout", { method: "POST", headers: { authorization: "Bearer x" } })).status).toBe(403)
    expect((await ben.api("GET", "/me", {})).status).toBe(200)
    expect((await ben.api("GET", "/me", { "sec-fetch-site": "none" })).status).toBe(200)
    for (const headers of [{ origin: url }, { "sec-fetch-site": "same-origin" }]) {
      expect((await ben.api("DELETE", "/people/nobody", headers)).body).toEqual({ type: "person-not-found" })
    }
  })
})
