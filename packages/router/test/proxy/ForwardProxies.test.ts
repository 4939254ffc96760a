/** Upstreams that are reached over a proxy of the environment. */
import { Certificate } from "@tachograph/testkit"
import * as Redacted from "effect/Redacted"
import { once } from "node:events"
import { createServer, type IncomingMessage, request } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { type AddressInfo, connect } from "node:net"
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest"
import { proxyFor } from "../../src/proxy/ForwardProxies.ts"
import { proxyTo, send, withKey } from "./Client.ts"
import { connected, socketProxyTo, socketUpstream } from "./Sockets.ts"
import { upstream } from "./Upstream.ts"

Certificate.trust()

const portOf = (server: { address: () => unknown }): number => (server.address() as AddressInfo).port

/** A proxy for which every host is this machine. Keeps what it was asked for. */
const forwardProxy = async (isAllowed: (asked: IncomingMessage) => boolean = () => true) => {
  const asked: Array<{ readonly method: string; readonly url: string; readonly authorization: string | undefined }> = []
  const take = (message: IncomingMessage) => {
    const { headers, method, url } = message
    asked.push({ method: method!, url: url!, authorization: headers["proxy-authorization"] })
    return isAllowed(message)
  }
  const server = createServer((message, response) => {
    take(message)
    const { host, pathname, port } = new URL(message.url!)
    const headers = { ...message.headers, host }
    message.pipe(
      request({ host: "127.0.0.1", port, path: pathname, method: message.method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      })
    )
  })
  server.on("connect", (message, socket, head) => {
    if (!take(message)) return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
    const target = connect(Number(message.url!.split(":")[1]), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
      target.write(head)
      target.pipe(socket).pipe(target)
    })
    for (const end of [socket, target]) end.on("error", () => {})
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { asked, port: portOf(server) }
}

/** A provider over TLS. */
const secureUpstream = async () => {
  const server = createTlsServer({ cert: Certificate.cert, key: Certificate.key }, (message, response) => {
    message.resume().on("end", () => response.end(`answer to ${message.url}`))
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return portOf(server)
}

afterEach(() => {
  vi.unstubAllEnvs()
})

const authorization = `Basic ${Buffer.from("me:p@ss").toString("base64")}`

describe("an upstream behind a proxy of the environment", () => {
  it("is reached over TLS by a tunnel, which is used again", async () => {
    const { asked, port } = await forwardProxy()
    vi.stubEnv("HTTPS_PROXY", `http://me:p%40ss@127.0.0.1:${port}`)
    const provider = await secureUpstream()
    const { port: at } = await proxyTo(`https://provider.test:${provider}/v1`)
    for (const path of ["a", "b"]) {
      const { answer, body } = await send(at, `/proxy/local/${path}`, { body: "x", headers: withKey })
      expect([answer.statusCode, String(body)]).toEqual([200, `answer to /v1/${path}`])
    }
    expect(asked).toEqual([{ method: "CONNECT", url: `provider.test:${provider}`, authorization }])
  })

  it("is reached in the clear by a request to the proxy", async () => {
    const { asked, port } = await forwardProxy()
    vi.stubEnv("http_proxy", `me:p%40ss@127.0.0.1:${port}`)
    const { port: provider, received } = await upstream((response) => void response.end("answer"))
    const { port: at } = await proxyTo(`http://provider.test:${provider}/v1`)
    const { body } = await send(at, "/proxy/local/a", { body: "question", headers: withKey })
    expect(String(body)).toBe("answer")
    expect(asked).toEqual([{ method: "POST", url: `http://provider.test:${provider}/v1/a`, authorization }])
    expect([received[0]!.url, String(received[0]!.body)]).toEqual(["/v1/a", "question"])
  })

  it("is reached for a WebSocket by a tunnel", async () => {
    const { asked, port } = await forwardProxy()
    vi.stubEnv("HTTP_PROXY", `http://127.0.0.1:${port}`)
    const { url } = await socketUpstream((socket, message) => socket.send(`${message}, too`))
    const { port: at } = await socketProxyTo(url.replace("127.0.0.1", "provider.test"))
    const { received, socket } = await connected(at, "/proxy/local/realtime")
    socket.send("hello")
    await vi.waitFor(() => expect(received).toEqual(["hello, too"]))
    expect(asked).toMatchObject([{ method: "CONNECT", authorization: undefined }])
  })

  it("is reached directly where NO_PROXY has it, and on this machine", async () => {
    vi.stubEnv("HTTP_PROXY", "http://127.0.0.1:1")
    vi.stubEnv("NO_PROXY", "other.example, localhost.localdomain")
    const { url } = await upstream((response) => void response.end("answer"))
    const { port } = await proxyTo(url)
    expect(String((await send(port, "/proxy/local/a", { headers: withKey })).body)).toBe("answer")
  })

  it("is 502 where the proxy refuses or is away: the log says that it was the proxy, and never its password", async () => {
    const log = vi.spyOn(console, "log").mockImplementation(() => {})
    const { port } = await forwardProxy(() => false)
    for (const [at, code] of [
      [port, "PROXY_407"],
      [1, "PROXY_ECONNREFUSED"]
    ]) {
      vi.stubEnv("HTTPS_PROXY", `http://me:planted@127.0.0.1:${at}`)
      const { port: ours } = await proxyTo("https://provider.test")
      const { answer } = await send(ours, "/proxy/local/a", { body: "x", headers: withKey })
      expect(answer.statusCode).toBe(502)
      await vi.waitFor(() => expect(JSON.stringify(log.mock.calls)).toContain(code))
    }
    expect(JSON.stringify(log.mock.calls)).not.toMatch(/planted|bWU6cGxhbnRlZA/)
  })

  it("is 504 where the proxy does not answer in time", async () => {
    const silent = createServer().on("connect", () => {})
    await once(silent.listen(0, "127.0.0.1"), "listening")
    onTestFinished(() => {
      silent.close()
      silent.closeAllConnections()
    })
    vi.stubEnv("HTTPS_PROXY", `http://127.0.0.1:${portOf(silent)}`)
    const { port: at } = await proxyTo("https://provider.test", { connectTimeoutMs: 100 })
    const { answer } = await send(at, "/proxy/local/a", { body: "x", headers: withKey })
    expect(answer.statusCode).toBe(504)
  })
})

describe("the proxy of the environment", () => {
  const at = (hostname: string, port = 443) => ({ protocol: "https:" as const, hostname, port })
  const via = (hostname: string, environment: Record<string, string>) =>
    proxyFor(at(hostname), { HTTPS_PROXY: "http://proxy.example:3128", ...environment }) !== undefined

  it.each([
    ["api.example", "", true],
    ["api.example", "*", false],
    ["api.example", "other.example,API.example", false],
    ["eu.api.example", "api.example", false],
    ["eu.api.example", ".api.example", false],
    ["eu.api.example", "*.api.example", false],
    ["myapi.example", "api.example", true],
    ["api.example", "api.example:443", false],
    ["api.example", "api.example:8443", true],
    ["10.1.2.3", "10.0.0.0/8", false],
    ["11.1.2.3", "10.0.0.0/8", true],
    ["fd00::1", "fd00::/8", false],
    ["10.1.2.3", "2.3", true],
    ["fd00::1", "[fd00::1]:443", false],
    ["api.example", "10.0.0.0/99 /8 , .", true],
    ["localhost", "", false],
    ["127.0.0.2", "", false],
    ["::1", "", false]
  ])("for %s with NO_PROXY=%s is used: %j", (hostname, noProxy, isUsed) => {
    expect(via(hostname, { NO_PROXY: noProxy })).toBe(isUsed)
  })

  it("is that of the scheme, and the name in lower case comes first", () => {
    const environment = {
      HTTP_PROXY: "http://plain.example",
      HTTPS_PROXY: "upper.example:1",
      https_proxy: "https://[fd00::2]"
    }
    expect(proxyFor(at("x.example"), environment)).toMatchObject({ protocol: "https:", hostname: "fd00::2", port: 443 })
    expect(proxyFor({ ...at("x.example"), protocol: "http:" }, environment)).toMatchObject({
      hostname: "plain.example",
      port: 80,
      authorization: undefined
    })
    expect(via("x.example", { https_proxy: "", no_proxy: "", NO_PROXY: "x.example" })).toBe(false)
    expect(proxyFor(at("x.example"), { HTTP_PROXY: "http://plain.example" })).toBe(undefined)
  })

  it("takes a password as it is where it is not percent-encoded", () => {
    const found = proxyFor(at("x.example"), { HTTPS_PROXY: "http://me:50%@proxy.example" })
    expect(Redacted.value(found!.authorization!)).toBe(`Basic ${Buffer.from("me:50%").toString("base64")}`)
  })

  it.each(["socks5://me:planted@proxy.example", "http://", "http://me:planted@:80:80"])("is refused as %s", (url) => {
    expect(() => proxyFor(at("x.example"), { HTTPS_PROXY: url })).toThrow(
      new TypeError("HTTPS_PROXY: expected the URL of an HTTP proxy, such as http://proxy.example:3128")
    )
  })
})
