/**
 * Measures how long one hostile body blocks the event loop of `tachograph serve`: sends each shape to a new server on SQLite,
 * and prints the longest turn of its event loop.
 *
 *   node src/Blocking.ts [--encoding gzip|deflate|br|zstd] [--only TEXT]
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import type { LongestTurn } from "./blocking/Monitor.ts"
import { envelopeFor, shapesFor } from "./blocking/Shapes.ts"
import { decimal, integer, megabytes, print, progress } from "./harness/Table.ts"

const encoders = {
  identity: (body: Buffer) => body,
  gzip: (body: Buffer) => gzipSync(body),
  deflate: (body: Buffer) => deflateSync(body),
  // The quality of the smallest result.
  br: (body: Buffer) =>
    brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  zstd: (body: Buffer) => zstdCompressSync(body)
} as const

const { values } = parseArgs({
  options: { encoding: { type: "string", default: "identity" }, only: { type: "string", default: "" } }
})
if (!Object.hasOwn(encoders, values.encoding)) {
  console.error(`--encoding is ${JSON.stringify(values.encoding)}: expected one of ${Object.keys(encoders).join(", ")}`)
  process.exit(2)
}
const encoding = values.encoding as keyof typeof encoders

const apiKey = "a key for the blocking benchmark"
const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" }
const main = fileURLToPath(new URL("src/main.ts", import.meta.resolve("@tachograph/server/package.json")))
const monitor = new URL("blocking/Monitor.ts", import.meta.url).href

const start = async () => {
  const folder = mkdtempSync(join(tmpdir(), "tachograph-blocking-"))
  const child = fork(main, ["serve", "--port", "0", "--storage", `sqlite:${join(folder, "blocking.db")}`], {
    execArgv: ["--import", monitor],
    env: { ...process.env, TACHOGRAPH_API_KEY: apiKey },
    stdio: ["ignore", "pipe", "inherit", "ipc"]
  })
  process.once("exit", () => child.kill())
  const exited = once(child, "exit")
  const url = await new Promise<string>((resolve) => {
    let output = ""
    child.stdout!.on("data", (chunk) => {
      const match = /^Tachograph +(\S+)$/m.exec((output += chunk))
      if (match !== null) resolve(match[1]!)
    })
  })
  return {
    url,
    longestTurn: async (): Promise<LongestTurn> => {
      child.send("longest turn?")
      return ((await once(child, "message")) as [LongestTurn])[0]
    },
    stop: async () => {
      child.kill("SIGTERM")
      await exited
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

const server = await start()
const put = await fetch(new URL("/api/v1/fingerprints", server.url), {
  method: "PUT",
  headers,
  body: JSON.stringify({ language: "js", language_version: "24", system: "blocking benchmark" })
})
const { fingerprint_id } = (await put.json()) as { readonly fingerprint_id: string }

const send = (body: Buffer) =>
  fetch(new URL("/api/v1/events", server.url), {
    method: "POST",
    headers: encoding === "identity" ? headers : { ...headers, "content-encoding": encoding },
    body: new Uint8Array(body),
    signal: AbortSignal.timeout(60_000)
  })

const rows: Array<ReadonlyArray<string>> = []
for (const { body, name } of shapesFor(envelopeFor(fingerprint_id))) {
  if (!name.includes(values.only)) continue
  const bytes = body()
  const encoded = encoders[encoding](bytes)
  await server.longestTurn()
  const startedAt = performance.now()
  const response = await send(encoded)
  await response.text()
  const ms = performance.now() - startedAt
  const { cpuMs, wallMs } = await server.longestTurn()
  const row = [
    name,
    megabytes(bytes.length, 1),
    integer(encoded.length),
    String(response.status),
    integer(cpuMs),
    integer(wallMs),
    decimal((cpuMs * 1e6) / bytes.length, 1),
    integer(ms)
  ]
  progress(row.join(" | "))
  rows.push(row)
}
await server.stop()
print({
  title: `The longest turn of the event loop for one body, ${encoding}`,
  columns: ["body", "MB", "bytes sent", "status", "CPU ms", "ms", "CPU ms per MB", "answered after ms"],
  rows
})
