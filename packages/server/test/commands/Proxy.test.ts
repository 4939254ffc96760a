/** `tachograph serve --proxy`. */
import { hash } from "node:crypto"
import { createServer } from "node:http"
import { once } from "node:events"
import { type AddressInfo, connect } from "node:net"
import { join } from "node:path"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { expectUsageError, runInProcess, serveInProcess, startServer } from "../CommandLine.ts"
import { exchange, open } from "../RawSocket.ts"
import { temporaryFolder } from "../TachographProcess.ts"

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

it("passes WebSockets on, and answers other offers as requests", async () => {
  const provider = createServer((request, response) => {
    request.resume().on("end", () => response.end(JSON.stringify({ url: request.url })))
  })
  provider.on("upgrade", (_request, socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
    socket.pipe(socket)
  })
  await once(provider.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => void provider.close())
  const upstream = `local=http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  const url = await serveInProcess(
    ["--storage", "memory:", "--proxy", "--proxy-open", "--upstream", upstream],
    "1 minute"
  )
  const host = `Host: ${new URL(url).host}\r\n`
  const socket = "Connection: Upgrade, close\r\nUpgrade: websocket\r\n"
  const echo = connect(Number(new URL(url).port), "127.0.0.1")
  echo.write(`GET /proxy/local/realtime HTTP/1.1\r\n${host}${socket}\r\nsome bytes`)
  const chunks: Array<Buffer> = []
  echo.on("data", (chunk: Buffer) => chunks.push(chunk))
  await vi.waitFor(() => expect(String(Buffer.concat(chunks))).toMatch(/^HTTP\/1\.1 101 (?:.*\r\n)*\r\nsome bytes$/))
  echo.destroy()
  const call = (more: string, body = "{}") =>
    `POST /proxy/local/x HTTP/1.1\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`
  const h2c = `${host}Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n`
  for (const [requests, statuses] of [
    [call(h2c), [200]],
    // Behind another request, in its turn.
    [`${call(host)}GET /proxy/local/realtime HTTP/1.1\r\n${host}${socket}\r\n`, [200, 426]],
    [`GET /health HTTP/1.1\r\n${host}${socket}\r\n`, [200]],
    [`GET /proxy/other/x HTTP/1.1\r\n${host}${socket}\r\n`, [404]]
  ] as const) {
    expect((await exchange(url, requests)).statuses).toEqual(statuses)
  }
})

it("closes a WebSocket whose key is revoked", async () => {
  const provider = createServer().on("upgrade", ({ headers }, socket) => {
    const accept = hash("sha1", `${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`, "base64")
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`
    )
    socket.resume()
  })
  await once(provider.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => void provider.close())
  const storage = ["--storage", `sqlite:${join(temporaryFolder(), "tachograph.db")}`]
  const issued = await runInProcess(["keys", "create", "--scope", "record", ...storage])
  const upstream = `local=http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  const url = await serveInProcess([...storage, "--thread", "no", "--proxy", "--upstream", upstream], "10 millis")
  const headers = { "x-tachograph-key": issued.stdout.trim() }
  // Node's takes headers, which a browser's does not.
  const socket = new WebSocket(`${url.replace("http", "ws")}/proxy/local/responses`, { headers } as unknown as string)
  await once(socket, "open")
  const closed = once(socket, "close")
  await runInProcess(["keys", "revoke", /key_\w+/.exec(issued.stderr)![0], ...storage])
  expect((await closed)[0]).toMatchObject({ code: 1008 })
})

it("refuses a proxy of the environment that is none, without its value, where it would be used", async () => {
  vi.stubEnv("HTTPS_PROXY", "socks5://me:planted@proxy.example")
  onTestFinished(() => void vi.unstubAllEnvs())
  const result = await runInProcess(["serve", "--storage", "memory:", "--proxy"])
  expectUsageError(result, "HTTPS_PROXY: expected the URL of an HTTP proxy, such as http://proxy.example:3128")
  expect(result.stderr).not.toContain("planted")
  expect(await serveInProcess(["--storage", "memory:"], "1 minute")).toContain("http://")
})

it("answers CONNECT behind a call when all of the call's answer was read", async () => {
  const large = Buffer.alloc(16_000_000, "x")
  const provider = createServer((_request, response) => void response.end(large))
  await once(provider.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => void provider.close())
  const upstream = `local=http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  const url = await serveInProcess(
    ["--storage", "memory:", "--proxy", "--proxy-open", "--upstream", upstream],
    "1 minute"
  )
  const host = `Host: ${new URL(url).host}\r\n`
  const call = `POST /proxy/local/x HTTP/1.1\r\n${host}Content-Length: 2\r\n\r\n{}`
  const { closed, statuses, text } = await exchange(url, `${call}CONNECT x:80 HTTP/1.1\r\n${host}\r\n`)
  expect({ statuses, closed }).toEqual({ statuses: [200, 405], closed: true })
  expect(text.length).toBeGreaterThan(large.length)
})

it("records calls in the project of their key, and nowhere else", async () => {
  const provider = createServer((_request, response) => void response.end('{"choices":[]}'))
  await once(provider.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => void provider.close())
  const storage = ["--storage", `sqlite:${join(temporaryFolder(), "tachograph.db")}`]
  const create = ["keys", "create", "--scope", "record,read", ...storage]
  const keys: Array<string> = []
  for (const project of ["default", "one", "two"]) {
    keys.push((await runInProcess([...create, "--project", project])).stdout.trim())
  }
  const upstream = `local=http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  const url = await serveInProcess(
    [...storage, "--thread", "no", "--proxy", "--proxy-open", "--upstream", upstream],
    "1 minute"
  )
  // The last one has no key.
  const sent = [...keys.entries(), [3, undefined] as const]
  const before = await recorded(url)
  for (const [n, key] of sent) {
    const headers = {
      "x-tachograph-session": `session ${n}`,
      ...(key === undefined ? {} : { "x-tachograph-key": key })
    }
    const init = { method: "POST", headers, body: `{"messages":[]}` }
    expect((await fetch(`${url}/proxy/local/chat/completions`, init)).status).toBe(200)
  }
  await vi.waitFor(async () => expect(await recorded(url)).toBe(before + sent.length), {
    timeout: 60_000,
    interval: 20
  })
  const sessions = keys.map(async (key) => {
    const response = await fetch(`${url}/api/v1/events?order=asc`, { headers: { authorization: `Bearer ${key}` } })
    const { events } = (await response.json()) as { readonly events: ReadonlyArray<{ readonly session: string }> }
    return events.map(({ session }) => session).sort()
  })
  expect(await Promise.all(sessions)).toEqual([["session 0", "session 3"], ["session 1"], ["session 2"]])
  const me = await fetch(`${url}/api/v1/me`, { headers: { authorization: `Bearer ${keys[0]}` } })
  expect(await me.json()).toMatchObject({ proxy_upstreams: ["openai", "anthropic", "gemini", "local"] })
})

it("records a coding agent as it names itself, so that two of its versions can be compared", async () => {
  const provider = createServer((_request, response) => void response.end('{"content":[]}'))
  await once(provider.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => void provider.close())
  const storage = ["--storage", `sqlite:${join(temporaryFolder(), "tachograph.db")}`]
  const upstream = `local=http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  const url = await serveInProcess(
    [...storage, "--thread", "no", "--proxy", "--proxy-open", "--upstream", upstream],
    "1 minute"
  )
  const before = await recorded(url)
  for (const [version, session, prompt] of [
    ["2.1.331", "11111111-2222-4333-8444-555555555555", "Be brief."],
    ["2.1.332", "66666666-7777-4888-8999-000000000000", "Be thorough."]
  ] as const) {
    const system = [
      {
        type: "text",
        text: `x-anthropic-billing-header: cc_version=${version}.93d; cc_entrypoint=cli; cch=${session};`
      },
      { type: "text", text: `You are a coding agent.\n${prompt}` }
    ]
    const metadata = { user_id: JSON.stringify({ account_uuid: "", session_id: session }) }
    const messages = [{ role: "user", content: "fix it" }]
    await fetch(`${url}/proxy/local/v1/messages?beta=true`, {
      method: "POST",
      headers: { "user-agent": `claude-cli/${version} (external, cli)`, "x-claude-code-session-id": session },
      body: JSON.stringify({ model: "claude-opus-5-5", max_tokens: 10, system, messages, metadata })
    })
  }
  await vi.waitFor(async () => expect(await recorded(url)).toBe(before + 2), { timeout: 60_000, interval: 20 })
  const { code, stderr, stdout } = await runInProcess(["compare", "claude-code", "2.1.331", "2.1.332", ...storage])
  expect([code, stderr]).toEqual([0, ""])
  for (const part of ["parameters", "tools", "runtime"]) expect(stdout).toContain(`${part}: the same`)
  expect(stdout).toMatch(/^model: claude-opus-5-5, the same$/m)
  expect(stdout).toContain("Be [-brief-]{+thorough+}.")
  expect(stdout).not.toContain("billing")
})

it("answers the pages of --cors, and no other's question whether it may call", async () => {
  const provider = createServer((_request, response) => {
    response.writeHead(200, ["Set-Cookie", "a=1", "Set-Cookie", "b=2", "X-Kept", "yes"]).end("{}")
  })
  await once(provider.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => void provider.close())
  const upstream = `local=http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  const options = ["--storage", "memory:", "--proxy", "--upstream", upstream]
  const origin = "http://localhost:3000"
  const preflight = {
    origin,
    "access-control-request-method": "POST",
    "access-control-request-headers": "x-tachograph-key"
  }
  const ask = async (url: string) => fetch(`${url}/proxy/local/x`, { method: "OPTIONS", headers: preflight })
  expect((await ask(await serveInProcess(options, "1 minute"))).status).toBe(401)
  const url = await serveInProcess([...options, "--proxy-open", "--cors", origin], "1 minute")
  const asked = await ask(url)
  const allowed = ["origin", "methods", "headers"].map((name) => asked.headers.get(`access-control-allow-${name}`))
  expect([asked.status, ...allowed]).toEqual([204, origin, "GET, PUT, POST, DELETE", "x-tachograph-key"])
  const post = async (key: string) => {
    const { headers, status } = await fetch(`${url}/proxy/local/x`, {
      method: "POST",
      headers: { origin, "x-tachograph-key": key }
    })
    return [status, headers.get("access-control-allow-origin"), headers.get("x-kept"), headers.getSetCookie()]
  }
  expect(await post("")).toEqual([200, origin, "yes", ["a=1", "b=2"]])
  // A refusal can be read by the page as well.
  expect(await post("wrong")).toEqual([401, origin, null, []])
})

describe("a request that takes longer than --request-timeout", () => {
  const body = JSON.stringify({ messages: [], text: "slow ".repeat(4) })

  const setUp = async (...args: ReadonlyArray<string>) => {
    const provider = createServer(async (request, response) => {
      const chunks: Array<Buffer> = []
      try {
        for await (const chunk of request) chunks.push(chunk as Buffer)
        response.end(Buffer.concat(chunks))
      } catch {}
    })
    await once(provider.listen(0, "127.0.0.1"), "listening")
    onTestFinished(() => void provider.close())
    const upstream = `local=http://127.0.0.1:${(provider.address() as AddressInfo).port}`
    const options = [
      "--storage",
      "memory:",
      "--proxy",
      "--proxy-open",
      "--request-timeout",
      "1s",
      "--upstream",
      upstream
    ]
    return serveInProcess([...options, ...args], "1 minute")
  }

  const head = (path: string) =>
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`

  it("passes, as long as it goes on", async () => {
    const url = await setUp()
    const connection = open(url, head("/proxy/local/chat/completions") + body.slice(0, 15))
    // This one began later, so when its time is over, that of the other is as well.
    expect((await exchange(url, "POST /api/v1/events HTTP/1.1\r\nHost: ")).statuses).toEqual([408])
    connection.write(body.slice(15))
    const { statuses, text } = await connection.finished
    expect([statuses, text.endsWith(body)]).toEqual([[200], true])
  })

  it("is 504 when it stops, after --proxy-idle-timeout", async () => {
    const url = await setUp("--proxy-idle-timeout", "3s")
    const { closed, statuses } = await exchange(url, head("/proxy/local/chat/completions") + body.slice(0, 15))
    expect([closed, statuses]).toEqual([true, [504]])
  })
})

it("says at its start where upstreams go, and for whom it is open", async () => {
  const bannerOf = async (...args: ReadonlyArray<string>) => {
    const storage = ["--storage", "memory:", "--proxy", "--upstream", "local=http://127.0.0.1:8080/v1"]
    const { output, stop } = await startServer([...storage, ...args])
    await stop()
    return output().stdout
  }
  const closed = await bannerOf()
  expect(closed).toMatch(/^Proxy {7}http:\/\/127\.0\.0\.1:\d+\/proxy\/NAME, NAME being$/m)
  expect(closed).toMatch(/^ {12}openai +https:\/\/api\.openai\.com\/v1$/m)
  expect(closed).toMatch(/^ {12}local +http:\/\/127\.0\.0\.1:8080\/v1$/m)
  expect(closed).not.toContain("need no key")
  expect(await bannerOf("--proxy-open")).toMatch(/^ {12}programs on this machine need no key for it$/m)
  const everywhere = await bannerOf("--proxy-open", "--host", "0.0.0.0")
  expect(everywhere).toContain(
    "programs on this machine need no key for it at localhost, 127.0.0.1 and [::1]; at any other address they do"
  )
})

it.each([
  [["--proxy", "--upstream", "x=ftp://provider"], '--upstream has "x=ftp://provider": expected NAME=URL'],
  [["--proxy", "--upstream", "https://provider"], '--upstream has "https://provider": expected NAME=URL'],
  [
    ["--proxy", "--upstream", "x=https://user:planted@provider"],
    '--upstream has "x=https://…@provider": expected NAME=URL'
  ],
  [["--proxy", "--upstream", "X/y=https://provider"], '--upstream has "X/y=https://provider": expected NAME=URL'],
  [
    ["--proxy", "--upstream", "a=https://one", "--upstream", "b=https://two/v1?key=planted#planted"],
    '--upstream has "b=https://two/v1?…": expected NAME=URL'
  ],
  [["--proxy", "--upstream", "x=planted"], '--upstream has "x=…": expected NAME=URL'],
  [["--proxy", "--upstream", "x=https://user:planted"], '--upstream has "x=…": expected NAME=URL'],
  [
    ["--proxy", "--upstream", "a=http://one/v1,b=https://user:planted@two"],
    '--upstream has "a=http://one/v1,…": expected NAME=URL'
  ],
  [["--proxy", "--upstream", "a=http://one,"], '--upstream has "a=http://one,…": expected NAME=URL'],
  [["--proxy", "--upstream", "planted"], '--upstream has "…": expected NAME=URL'],
  [["--proxy", "--upstream", "x=https://one", "--upstream", "x=https://two"], '--upstream names "x" twice'],
  [
    ["--proxy", "--upstream", "openai=http://localhost:4400/proxy/openai"],
    '--upstream is invalid: "openai" leads back to this server\'s own proxy'
  ],
  [
    ["--proxy", "--port", "80", "--host", "0.0.0.0", "--upstream", "x=http://127.0.0.1/proxy"],
    "leads back to this server's own proxy"
  ],
  [
    ["--proxy", "--host", "recorder.example", "--upstream", "x=http://recorder.example:4400/proxy/openai/"],
    "leads back to this server's own proxy"
  ],
  [["--upstream", "x=https://provider"], "--upstream needs --proxy"],
  [["--proxy-open"], "--proxy-open needs --proxy"],
  [["--proxy-connect-timeout", "5s"], "--proxy-connect-timeout needs --proxy"],
  [["--proxy-idle-timeout", "5s"], "--proxy-idle-timeout needs --proxy"],
  [["--no-proxy", "--proxy-memory", "16MiB"], "--proxy-memory needs --proxy"],
  [["--proxy", "--proxy-idle-timeout", "0s"], "--proxy-idle-timeout"]
])("refuses %j", async (args, message) => {
  const finished = await runInProcess(["serve", "--storage", "memory:", ...args])
  expectUsageError(finished, message)
  expect(finished.stderr).not.toContain("planted")
})

it.each([
  ["another server's proxy", ["--upstream", "x=http://127.0.0.1:4401/proxy/openai"]],
  ["another address of this machine", ["--upstream", "x=http://192.0.2.1:0/proxy/openai"]],
  ["a path beside the proxy", ["--upstream", "x=http://127.0.0.1:0/proxying"]]
])("takes %s as an upstream", async (_name, args) => {
  await serveInProcess(["--storage", "memory:", "--proxy", ...args], "1 minute")
})

it("takes its options from the environment as well", async () => {
  const run = (env: Readonly<Record<string, string>>) => runInProcess(["serve", "--storage", "memory:"], env)
  expectUsageError(await run({ TACHOGRAPH_PROXY: "2" }), 'TACHOGRAPH_PROXY is "2": expected yes or no')
  // A switch is on by the same words as an option.
  for (const [on, off] of [
    ["yes", "no"],
    ["1", "0"],
    ["true", "false"],
    ["on", "off"],
    ["y", "n"]
  ]) {
    const bad = { TACHOGRAPH_UPSTREAM: "bad" }
    expectUsageError(await run({ TACHOGRAPH_PROXY: on!, ...bad }), 'TACHOGRAPH_UPSTREAM has "…"')
    expectUsageError(await run({ TACHOGRAPH_PROXY: off!, TACHOGRAPH_MIGRATE: "maybe" }), "TACHOGRAPH_MIGRATE")
    expectUsageError(await run({ TACHOGRAPH_MIGRATE: on!, TACHOGRAPH_THREAD: off!, ...bad }), "TACHOGRAPH_UPSTREAM")
  }
  const twice = "good=https://one good=https://two"
  expectUsageError(
    await run({ TACHOGRAPH_PROXY: "yes", TACHOGRAPH_UPSTREAM: twice }),
    'TACHOGRAPH_UPSTREAM names "good" twice'
  )
  const upstreams = "good=https://provider bad"
  expectUsageError(
    await run({ TACHOGRAPH_PROXY: "yes", TACHOGRAPH_UPSTREAM: upstreams }),
    'TACHOGRAPH_UPSTREAM has "…"'
  )
  for (const [name, value] of [
    ["TACHOGRAPH_UPSTREAM", "good=https://provider"],
    ["TACHOGRAPH_PROXY_OPEN", "yes"],
    ["TACHOGRAPH_PROXY_OPEN", "1"],
    ["TACHOGRAPH_PROXY_CONNECT_TIMEOUT", "5s"],
    ["TACHOGRAPH_PROXY_IDLE_TIMEOUT", "5s"],
    ["TACHOGRAPH_PROXY_MEMORY", "16MiB"]
  ] as const) {
    expectUsageError(await run({ [name]: value }), `${name} needs --proxy`)
  }
})
