/** Who may use the proxy. */
import { defaultProject, Errors, MemoryStorage, type Principal, type Scope } from "@tachograph/core"
import { Deferred, Effect, Exit, Layer, Logger } from "effect"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { type Authorizer, AuthorizeTimeoutMs } from "../../src/front/Authorizer.ts"
import { createTachograph } from "../../src/index.ts"
import * as Gate from "../../src/proxy/Gate.ts"
import { opened } from "../Samples.ts"
import { exchange, served } from "../Served.ts"
import { proxyTo, send, withKey } from "./Client.ts"
import { upstream } from "./Upstream.ts"

const typeOf = (body: Buffer): unknown => JSON.parse(String(body)).type

describe("the key of Tachograph", () => {
  it("is needed, and never passed on", async () => {
    const { received, url } = await upstream((response) => void response.end())
    const { port } = await proxyTo(url)
    for (const headers of [{}, { "x-tachograph-key": "wrong" }, { authorization: withKey["x-tachograph-key"] }]) {
      const { answer, body } = await send(port, "/proxy/local/x", { headers })
      expect([answer.statusCode, typeOf(body)]).toEqual([401, "unauthorized"])
    }
    expect(received).toEqual([])
    await send(port, "/proxy/local/x", { headers: { ...withKey, X_Tachograph_Key: withKey["x-tachograph-key"] } })
    expect(received).toHaveLength(1)
    expect(JSON.stringify(received)).not.toContain(withKey["x-tachograph-key"])
  })

  it("needs the scope record", async () => {
    const { received, url } = await upstream((response) => void response.end())
    const granted: Array<Scope> = ["read"]
    const tachograph = await opened({
      authorize: () => ({ project: "p", scopes: granted }),
      proxy: { upstreams: { local: url } }
    })
    const { port } = await served(tachograph.node)
    const { answer, body } = await send(port, "/proxy/local/x")
    expect([answer.statusCode, typeOf(body), received.length]).toEqual([403, "forbidden", 0])
    granted[0] = "record"
    expect((await send(port, "/proxy/local/x")).answer.statusCode).toBe(200)
  })
})

describe("the rule of a host", () => {
  it("that fails is answered 500, with an id that the log has as well, over both mounts", async () => {
    const lines: Array<string> = []
    const logger = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
    const tachograph = await createTachograph({
      storage: Layer.merge(MemoryStorage.layer, logger),
      thread: false,
      authorize: () => {
        throw new Error("a bug of the host")
      },
      proxy: { upstreams: { local: "http://127.0.0.1:1" } }
    })
    onTestFinished(() => tachograph.close())
    const { port } = await served(tachograph.node)
    const { answer, body } = await send(port, "/proxy/local/x")
    const fetched = await tachograph.fetch(new Request("http://host/proxy/local/x"))
    const answers = [
      [answer.statusCode, answer.headers["x-request-id"], String(body)],
      [fetched.status, fetched.headers.get("x-request-id"), await fetched.text()]
    ]
    for (const [at, [status, id, text]] of answers.entries()) {
      expect([status, JSON.parse(String(text))]).toEqual([500, { type: "internal", id }])
      expect(JSON.parse(lines[at]!)).toMatchObject({ annotations: { request_id: id } })
      expect(lines[at]).toContain("a bug of the host")
    }
  })

  it("that does not answer in time is answered 503", async () => {
    const tachograph = await createTachograph({
      storage: Layer.mergeAll(MemoryStorage.layer, Logger.layer([]), Layer.succeed(AuthorizeTimeoutMs, 20)),
      thread: false,
      authorize: () => new Promise<never>(() => {}),
      proxy: { upstreams: { local: "http://127.0.0.1:1" } }
    })
    onTestFinished(() => tachograph.close())
    const { answer, body } = await send((await served(tachograph.node)).port, "/proxy/local/x")
    expect([answer.statusCode, typeOf(body)]).toEqual([503, "authorization-unavailable"])
  })

  it("sees the path below the base path, in every form of the target", async () => {
    const { received, url } = await upstream((response) => void response.end())
    const seen: Array<string> = []
    const tachograph = await opened({
      basePath: "/base",
      authorize: ({ url }) => {
        seen.push(url)
        return { project: "p", scopes: ["record"] }
      },
      proxy: { upstreams: { local: url } }
    })
    const { port } = await served(tachograph.node)
    const path = "/base/proxy/local/x?y=z"
    for (const target of [path, `http://127.0.0.1:${port}${path}`]) await send(port, target)
    await tachograph.fetch(new Request(`http://host${path}`, { method: "POST" }))
    expect(seen).toEqual(Array(3).fill("/proxy/local/x?y=z"))
    expect(received.map(({ url }) => url)).toEqual(Array(3).fill("/x?y=z"))
  })
})

const visitor = (headers: Readonly<Record<string, string>> = {}, remoteAddress: string | undefined = "127.0.0.1") => ({
  method: "POST",
  url: "/proxy/openai/chat/completions",
  headers: { host: "localhost:4400", ...headers },
  source: {},
  httpVersion: "1.1",
  remoteAddress
})

describe("an open proxy", () => {
  it.each([
    ["IPv4", visitor()],
    ["IPv6", visitor({ host: "[::1]:4400" }, "::1")],
    ["IPv4 in IPv6", visitor({ host: "127.0.0.1" }, "::ffff:127.0.0.1")],
    ["a page of this machine", visitor({ origin: "http://localhost:3000", "sec-fetch-site": "same-site" })],
    [
      "an SDK",
      visitor({
        "x-stainless-os": "Linux",
        "anthropic-version": "1",
        "x-goog-user-project": "p",
        "x-goog-api-key": "k",
        "x-amzn-trace-id": "t",
        "x-amz-date": "d",
        "x-cloud-trace-context": "t",
        "x-request-id": "r",
        "ngrok-skip-browser-warning": "1",
        "cf-aig-authorization": "k",
        "openai-beta": "b"
      })
    ]
  ])("takes a program on this machine: %s", (_name, local) => {
    expect(Gate.isLocal(local)).toBe(true)
  })

  it.each([
    ["another machine", visitor({}, "10.0.0.1")],
    ["an unknown address", { ...visitor(), remoteAddress: undefined }],
    ["a reverse proxy", visitor({ "x-forwarded-for": "10.0.0.1" })],
    ["a reverse proxy that says Forwarded", visitor({ forwarded: "for=10.0.0.1" })],
    ["a reverse proxy that names itself", visitor({ via: "1.1 gateway" })],
    ["a reverse proxy that says the host", visitor({ "x-forwarded-host": "localhost" })],
    ["a reverse proxy that says the address in its own way", visitor({ "x-real-ip": "10.0.0.1" })],
    ["HTTP/1.0, which reverse proxies speak", { ...visitor(), httpVersion: "1.0" }],
    ["a page of another site", visitor({ origin: "https://evil.example" })],
    ["a page without an origin", visitor({ "sec-fetch-site": "cross-site" })],
    ["a sandboxed page", visitor({ origin: "null" })],
    ["a name that was bound to this machine", visitor({ host: "evil.example" })],
    ["a host that only begins like this machine", visitor({ host: "localhost.evil.example" })]
  ])("does not take %s", (_name, other) => {
    expect(Gate.isLocal(other)).toBe(false)
  })

  it.each([
    ...["cf-connecting-ip", "cf-connecting-ipv6", "cf-ray", "cdn-loop", "true-client-ip", "fastly-client-ip"],
    ...["fly-client-ip", "x-cluster-client-ip", "x-azure-clientip", "x-appengine-user-ip", "ali-cdn-real-ip"],
    ...["x-proxyuser-ip", "x-remote-ip", "x-envoy-external-address", "x-original-host", "x-original-forwarded-for"],
    ...["forwarded-for", "x-forwarded", "x-forwarded-proto"],
    ...["tailscale-user-login", "tailscale-user-name", "tailscale-app-capabilities", "x-goog-iap-jwt-assertion"],
    ...["x-goog-authenticated-user-email", "x-arr-log-id", "x-arr-ssl", "x-amz-cf-id", "x-amzn-oidc-data"],
    ...["x-vercel-id", "x-vercel-ip-country", "ngrok-trace-id", "ngrok-auth-user-email", "x-request-start", "x-scheme"]
  ])("does not take a request that a proxy or a network has given %s", (name) => {
    expect(Gate.isLocal(visitor({ [name]: "10.0.0.1" }))).toBe(false)
  })

  it("says why it needs a key all the same, where none was sent", async () => {
    const { url } = await upstream((response) => void response.end())
    const messageOf = async (port: number, headers: Record<string, string>) =>
      JSON.parse((await send(port, "/proxy/local/x", { headers })).body.toString()).message
    const { port: closed } = await proxyTo(url, {})
    const none =
      "X-Tachograph-Key is missing. Send an API key of Tachograph in it, or start with --proxy-open for programs on this machine."
    expect(await messageOf(closed, {})).toBe(none)
    const wrong = "X-Tachograph-Key holds no valid API key of Tachograph: it is the key alone, without Bearer."
    expect(await messageOf(closed, { "x-tachograph-key": "wrong" })).toBe(wrong)
    const { port } = await proxyTo(url, { open: true })
    expect(await messageOf(port, { "x-tachograph-key": "wrong", host: "evil.example" })).toBe(wrong)
    for (const [headers, reason] of [
      [{ "x-forwarded-for": "::1" }, "a header of the request says that it came through another proxy"],
      [{ host: "evil.example" }, "its Host is no address of this machine"],
      [{ origin: "https://evil.example" }, "its Origin is a page of another site"],
      [{ "sec-fetch-site": "cross-site" }, "its Sec-Fetch-Site says that it comes from a page of another site"]
    ] as const) {
      const waived = "Without a key, the proxy is open only to programs on this machine that call it directly"
      expect(await messageOf(port, headers)).toBe(`X-Tachograph-Key is missing. ${waived}: ${reason}.`)
    }
    const request = `GET /proxy/local/x HTTP/1.0\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`
    expect(await exchange(port, request)).toContain("the request is of HTTP/1.0, as plain reverse proxies send it.")
  })

  it("waives the key, and refuses a wrong one", async () => {
    const { url } = await upstream((response) => void response.end())
    const { port } = await proxyTo(url, { open: true })
    expect((await send(port, "/proxy/local/x")).answer.statusCode).toBe(200)
    expect((await send(port, "/proxy/local/x", { headers: { "x-tachograph-key": "wrong" } })).answer.statusCode).toBe(
      401
    )
    expect((await send(port, "/proxy/local/x", { headers: { "x-forwarded-for": "::1" } })).answer.statusCode).toBe(401)
  })
})

describe("an open proxy behind a reverse proxy with its defaults", () => {
  it("of nginx: the host is rewritten, no address added, and HTTP/1.0 spoken", async () => {
    const { received, url } = await upstream((response) => void response.end())
    const { port } = await proxyTo(url, { open: true })
    const request = `GET /proxy/local/x HTTP/1.0\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`
    expect(await exchange(port, request)).toMatch(/^HTTP\/1.1 401 /)
    expect(received).toEqual([])
  })
})

describe("an outage of the storage of keys", () => {
  const principal: Principal = { project: defaultProject, scopes: ["record"], id: "key" }
  const known = visitor({ "x-tachograph-key": "known" })

  /** A gate whose lookups are as the storage is, and which caches keys as long as it is there, or never. */
  const gate = (storage: { find: ReturnType<Authorizer["Service"]["authorize"]> }, isCaching = true) => {
    let cached: Principal | undefined
    let lookups = 0
    const judgeNow = Gate.make(
      {
        cachedPrincipal: () => cached,
        authorize: () =>
          Effect.suspend(() => {
            lookups++
            return Effect.tap(storage.find, (found) => Effect.sync(() => (cached = isCaching ? found : undefined)))
          })
      },
      false
    )
    return {
      expire: () => (cached = undefined),
      lookups: () => lookups,
      judge: (visitor: Gate.Visitor) => {
        const judged = judgeNow(visitor)
        return Effect.isEffect(judged) ? judged : Effect.succeed(judged)
      }
    }
  }

  const away = Effect.fail(new Errors.StorageUnavailable({ cause: undefined }))

  it("does not end the calls of a key that was valid before it", async () => {
    const storage: Parameters<typeof gate>[0] = { find: Effect.succeed(principal) }
    const { expire, judge } = gate(storage)
    expect(await Effect.runPromise(judge(known))).toBe(principal)
    storage.find = away
    expire()
    expect(await Effect.runPromise(judge(known))).toBe(principal)
    const unknown = await Effect.runPromiseExit(judge(visitor({ "x-tachograph-key": "unknown" })))
    expect(Exit.isFailure(unknown)).toBe(true)
  })

  it("does not hold them up where the storage hangs, and asks it once meanwhile", async () => {
    const storage: Parameters<typeof gate>[0] = { find: Effect.succeed(principal) }
    const { expire, judge, lookups } = gate(storage)
    expect(await Effect.runPromise(judge(known))).toBe(principal)
    const hanging = Deferred.makeUnsafe<Principal | undefined>()
    storage.find = Deferred.await(hanging)
    expire()
    for (let n = 0; n < 10; n++) expect(await Effect.runPromise(judge(known))).toBe(principal)
    expect(lookups()).toBe(2)
    // It was revoked meanwhile.
    Deferred.doneUnsafe(hanging, Effect.undefined)
    storage.find = away
    await vi.waitFor(async () => expect(Exit.isFailure(await Effect.runPromiseExit(judge(known)))).toBe(true), {
      timeout: 60_000
    })
  })

  it("gives no request what a host's rule has granted to another one with the same key", async () => {
    const storage: Parameters<typeof gate>[0] = { find: Effect.succeed(principal) }
    const { judge } = gate(storage, false)
    expect(await Effect.runPromise(judge(visitor()))).toBe(principal)
    storage.find = away
    expect(Exit.isFailure(await Effect.runPromiseExit(judge(visitor())))).toBe(true)
  })
})
