/**
 * Runs the client in Node, Bun and Deno, against a server and a provider of its own. Bun and Deno come from npm, into a folder
 * that is deleted. Exit codes: 0 if it works in all of them, 1 if it fails in one, 3 if one cannot be installed.
 */
import { MemoryStorage } from "@tachograph/core"
import { createTachograph } from "@tachograph/router"
import { execFile, execFileSync } from "node:child_process"
import { strict as assert } from "node:assert"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const program = fileURLToPath(new URL("../test/process/Runtime.ts", import.meta.url))
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
  const { events } = await tachograph.recorder.listEvents()
  const outputs = new Map<string, object>()
  for (const { event_id, session } of events) {
    outputs.set(session, (await tachograph.recorder.getEvent(event_id)).properties.output)
  }
  assert.deepEqual(outputs.get("installed"), JSON.parse(answer))
  assert.partialDeepStrictEqual(outputs.get("stream"), { content: [{ type: "text", text: "Grüße" }] })
  assert.partialDeepStrictEqual(outputs.get("left"), { error: { type: "cancelled" } })
  const { fingerprints } = await tachograph.recorder.listFingerprints()
  await tachograph.close()
  const [{ language_version } = { language_version: "" }] = fingerprints
  assert.match(language_version, new RegExp(name))
  return language_version
}

const npm = ["bun@1.4.5", "deno@2.9.6"]

const isInstalled = () => {
  try {
    execFileSync("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", ...npm], { stdio: "pipe" })
    return true
  } catch (error) {
    console.error(`Cannot install ${npm.join(" and ")}: ${(error as Error).message}`)
    process.exitCode = 3
    return false
  }
}

const bin = (name: string) => join(folder, "node_modules/.bin", name)

const runtimes: ReadonlyArray<readonly [name: string, command: string, ...args: ReadonlyArray<string>]> = [
  ["node", process.execPath],
  ...(isInstalled() ? [["bun", bin("bun")] as const, ["deno", bin("deno"), "run", "--allow-all"] as const] : [])
]

for (const [name, command, ...args] of runtimes) {
  try {
    console.log(`ok    ${await check(name, command, ...args)}`)
  } catch (error) {
    console.error(`FAIL  ${name}: ${(error as Error).message}\n${(error as { stderr?: string }).stderr ?? ""}`)
    process.exitCode = 1
  }
}
process.exit()
