/**
 * Runs the client in Node, Bun, Deno and the runtime of Cloudflare's Workers, against a server and a provider of its own. All but Node
 * come from npm, into a folder that is deleted. Exit codes: 0 if it works in all of them, 1 if it fails in one, 3 if one cannot be installed.
 */
import { MemoryStorage } from "@tachograph/core"
import { createTachograph } from "@tachograph/router"
import { strict as assert } from "node:assert"
import { execFile, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { build } from "esbuild"

const program = fileURLToPath(new URL("./process/Runtime.ts", import.meta.url))
const worker = fileURLToPath(new URL("./process/Worker.ts", import.meta.url))
const apiKey = "a key of at least twenty characters"

const folder = mkdtempSync(join(tmpdir(), "runtimes-"))
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))

const listen = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener).listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  server.unref()
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const answer = JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content: "Hi" } }] })
const sent = [
  { type: "message_start", message: { id: "m", type: "message", role: "assistant", content: [], usage: {} } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Grüße" } },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
  { type: "message_stop" }
].map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`)

const provider = await listen((request, response) => {
  request.resume()
  if (request.url === "/chat/completions") {
    response.writeHead(200, { "content-type": "application/json" }).end(answer)
    return
  }
  if (request.url === "/echo/chat/completions") {
    const { "content-length": length = "none", "x-one": header = "none" } = request.headers
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ length, header }))
    return
  }
  response.writeHead(200, { "content-type": "text/event-stream" })
  const rest = [...sent]
  const next = () => {
    const chunk = rest.shift()
    if (chunk === undefined) return void response.end()
    response.write(chunk)
    setTimeout(next, 20)
  }
  next()
})

interface Printed {
  readonly echo: readonly [without: ReadonlyArray<string>, recorded: ReadonlyArray<string>]
  readonly json: string
  readonly stream: string
  readonly installed: string
  readonly left: boolean
  readonly isFlushed: boolean
  readonly events: ReadonlyArray<string>
  readonly counters: { readonly dropped: object; readonly sent: number }
}

const check = async (name: string, command: string, ...args: ReadonlyArray<string>): Promise<string> => {
  const tachograph = await createTachograph({ storage: MemoryStorage.layer, thread: false, apiKeys: [apiKey] })
  const url = await listen(tachograph.node)
  const spool = join(folder, `spool-${name}`)
  mkdirSync(spool)
  const { stdout } = await promisify(execFile)(command, [...args, program, url, apiKey, provider, spool], {
    timeout: 60_000
  })
  const printed = JSON.parse(stdout) as Printed
  assert.equal(printed.json, answer)
  assert.equal(printed.installed, answer)
  assert.equal(printed.stream, sent.join(""))
  assert.deepEqual([printed.left, printed.isFlushed, printed.counters.dropped], [true, true, {}])
  const [plain, recorded] = printed.echo
  // A copy of a Request makes a stream of its body in Deno, which is sent in chunks: docs/client.md.
  const expected = name === "deno" ? [plain[0]!.replace(/"length":"\d+"/, '"length":"none"'), ...plain.slice(1)] : plain
  assert.deepEqual(recorded, expected)
  assert.match(plain.join(), /"header":"1"/)
  assert.equal(printed.events.length, 7)
  assert.deepEqual(
    readdirSync(spool, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()),
    []
  )
  const { events } = await tachograph.api.listEvents()
  const outputs = new Map<string, object>()
  for (const { event_id, session } of events) {
    outputs.set(session, (await tachograph.api.getEvent({ event_id })).properties.output)
  }
  assert.deepEqual(outputs.get("installed"), JSON.parse(answer))
  assert.partialDeepStrictEqual(outputs.get("stream"), { content: [{ type: "text", text: "Grüße" }] })
  assert.partialDeepStrictEqual(outputs.get("left"), { error: { type: "cancelled" } })
  const { fingerprints } = await tachograph.api.listFingerprints()
  await tachograph.close()
  const [{ language_version } = { language_version: "" }] = fingerprints
  assert.match(language_version, new RegExp(name))
  return language_version
}

const bin = (name: string) => join(folder, "node_modules/.bin", name)

/** Several requests to one Worker, whose recorder they share. */
const checkWorkers = async (flags: ReadonlyArray<string>): Promise<string> => {
  const tachograph = await createTachograph({ storage: MemoryStorage.layer, thread: false, apiKeys: [apiKey] })
  const bindings = { TACHOGRAPH_URL: await listen(tachograph.node), TACHOGRAPH_API_KEY: apiKey, PROVIDER_URL: provider }
  const texts = Object.entries(bindings).map(([name, text]) => `(name = "${name}", text = "${text}")`)
  await build({
    entryPoints: [worker],
    bundle: true,
    format: "esm",
    external: ["node:*"],
    outfile: join(folder, "worker.js")
  })
  const config = join(folder, "config.capnp")
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "internet", network = (allow = ["local", "private", "public"]))
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-06-01",
  compatibilityFlags = ${JSON.stringify(flags)},
  bindings = [${texts.join(", ")}]
);
`
  )
  const workerd = spawn(bin("workerd"), ["serve", config, "--control-fd=1"], { stdio: ["ignore", "pipe", "inherit"] })
  try {
    // Nothing comes where it cannot start.
    const [line] = (await once(workerd.stdout, "data", { signal: AbortSignal.timeout(60_000) })) as [Buffer]
    const { port } = JSON.parse(line.toString()) as { readonly port: number }
    let counters: unknown
    for (let request = 1; request <= 4; request++) {
      const response = await fetch(`http://127.0.0.1:${port}/${request}`)
      assert.equal(await response.text(), sent.join(""))
      counters = JSON.parse(response.headers.get("x-counters")!)
    }
    assert.partialDeepStrictEqual(counters, { dropped: {} })
    for (let tries = 0; tries < 100; tries++) {
      const { events } = await tachograph.api.listEvents()
      const { fingerprints } = await tachograph.api.listFingerprints()
      if (events.length === 4) return `${fingerprints[0]?.system} ${flags.join(" ")}`.trim()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error("Of 4 calls, not all are recorded after 10 s")
  } finally {
    workerd.kill()
    await tachograph.close()
  }
}

const npm = ["bun@1.4.5", "deno@2.9.6", "workerd@1.20261117.1"]

const isInstalled = () => {
  try {
    execFileSync("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", ...npm], { stdio: "pipe" })
    return true
  } catch (error) {
    console.error(`Cannot install ${npm.join(", ")}: ${(error as Error).message}`)
    process.exitCode = 3
    return false
  }
}

const installed: ReadonlyArray<readonly [name: string, check: () => Promise<string>]> = [
  ["bun", () => check("bun", bin("bun"))],
  ["deno", () => check("deno", bin("deno"), "run", "--allow-all")],
  ["workerd", () => checkWorkers([])],
  ["workerd with Node's modules", () => checkWorkers(["nodejs_compat"])]
]

for (const [name, run] of [
  ["node", () => check("node", process.execPath)] as const,
  ...(isInstalled() ? installed : [])
]) {
  try {
    console.log(`ok    ${await run()}`)
  } catch (error) {
    console.error(`FAIL  ${name}: ${(error as Error).message}\n${(error as { stderr?: string }).stderr ?? ""}`)
    process.exitCode = 1
  }
}
process.exit()
