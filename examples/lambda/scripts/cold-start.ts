/**
 * Measures a cold start: the time from starting Node to the first response, for the bundle and for a handler that does
 * nothing. The cases alternate, so that other load on the machine affects all of them. Starts its own database.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { bundleInto, sizes } from "./bundle.ts"
import { startPostgres } from "./postgres.ts"

const rounds = 15
const key = "an API key for the measurement"
const runtime = fileURLToPath(new URL("runtime.mjs", import.meta.url))
const outdir = mkdtempSync(join(tmpdir(), "tachograph-"))
const postgres = await startPostgres()

await bundleInto(join(outdir, "postgres"))
const bundle = join(outdir, "postgres", "handler.mjs")
const files = sizes(join(outdir, "postgres"))

// The same without a database: separates Tachograph's own time from that of Postgres.
await bundleInto(join(outdir, "memory"), {
  stdin: {
    contents: `
      import { MemoryStorage } from "@tachograph/core"
      import { createHandler } from "@tachograph/lambda"
      export const handler = createHandler({ storage: MemoryStorage.layer, apiKeys: [process.env.TACHOGRAPH_API_KEY] })
    `,
    resolveDir: dirname(fileURLToPath(import.meta.resolve("@tachograph/lambda"))),
    sourcefile: "handler.js"
  },
  entryNames: "handler"
})
const memory = join(outdir, "memory", "handler.mjs")

const empty = join(outdir, "empty.mjs")
writeFileSync(empty, "export const handler = async () => ({ statusCode: 200 })")

const event = (path: string) => ({
  version: "2.0",
  rawPath: path,
  rawQueryString: "",
  headers: { authorization: `Bearer ${key}` },
  requestContext: { domainName: "a1b2c3.lambda-url.eu-west-1.on.aws", stage: "$default", http: { method: "GET" } },
  isBase64Encoded: false
})

/** Milliseconds from starting the process to the first response, and from there to the second. */
const measure = async (handler: string, path: string): Promise<readonly [first: number, second: number]> => {
  const storage = `${postgres.url}?schema=cold_start&pool_size=2`
  const started = performance.now()
  const child = fork(runtime, [handler], {
    env: { ...process.env, TACHOGRAPH_STORAGE: storage, TACHOGRAPH_API_KEY: key }
  })
  const call = async () => {
    child.send(event(path))
    const [{ statusCode }] = await once(child, "message")
    if (statusCode !== 200) throw new Error(`${path} returned ${statusCode}`)
    return performance.now()
  }
  try {
    await once(child, "message")
    const first = await call()
    return [first - started, (await call()) - first]
  } finally {
    child.kill("SIGKILL")
    await once(child, "exit")
  }
}

const cases = [
  { name: "a handler that does nothing", handler: empty, path: "/health" },
  { name: "over memory, a list of events", handler: memory, path: "/api/v1/events" },
  { name: "over Postgres, a list of events", handler: bundle, path: "/api/v1/events" }
].map((options) => ({ ...options, times: [] as Array<readonly [number, number]> }))

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

try {
  // The first run creates the tables.
  await measure(bundle, "/api/v1/events")
  for (let round = 0; round < rounds; round++) {
    for (const { handler, path, times } of cases) times.push(await measure(handler, path))
  }
  for (const { gzipped, name, size } of files) {
    console.log(`${name}: ${Math.ceil(size / 1000)} kB, ${Math.ceil(gzipped / 1000)} kB gzipped`)
  }
  console.log(`Medians of ${rounds}, on Node ${process.versions.node}:`)
  for (const { name, times } of cases) {
    const first = median(times.map(([one]) => one))
    const second = median(times.map(([, two]) => two))
    console.log(
      `${name}: ${first.toFixed(0)} ms from starting Node to the first response, ${second.toFixed(1)} ms to the second`
    )
  }
} finally {
  await postgres.stop()
  rmSync(outdir, { recursive: true })
}
