/** Compares the documentation of `/metrics` and the Grafana dashboard with the metrics of a server. */
import { HttpClient } from "@tachograph/testkit"
import { globSync, readFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { beforeAll, describe, expect, it, vi } from "vitest"
import { runInProcess } from "./CommandLine.ts"
import { serve, temporaryFolder } from "./TachographProcess.ts"

const docs = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8")

const apiKey = "a key to fill the metrics"

interface Family {
  readonly type: string
  readonly labels: ReadonlyArray<string>
}

/** Metric families by name, with all labels of their series. */
const families = (text: string): ReadonlyMap<string, Family> => {
  const families = new Map<string, Family>()
  for (const [, name, type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const parts = type === "histogram" ? "_(?:bucket|sum|count)" : ""
    const labels = Array.from(text.matchAll(new RegExp(`^${name}${parts}\\{(.*)\\} `, "gm")), ([, inner]) =>
      Array.from(inner!.matchAll(/(\w+)="/g), ([, label]) => label!)
    )
    families.set(name!, { type: type!, labels: Array.from(new Set(labels.flat())).filter((label) => label !== "le") })
  }
  return families
}

/** The names of the metrics in a text. The parts of a histogram count as the histogram. */
const namesIn = (text: string): ReadonlySet<string> =>
  new Set(
    Array.from(text.matchAll(/\b(?:tachograph|process|nodejs)_[a-z_]+/g), ([name]) =>
      name.replace(/_(bucket|sum|count)$/, "")
    )
  )

/** Only exposed by several workers: see `postgres/Workers.test.ts`. */
const workerMetrics = ["tachograph_workers", "tachograph_workers_missing"]

/** A row of the tables in `docs/metrics.md`. */
const row = /^\| `([a-z_]+)` \| (\w+) \| (.*?) ?\|/gm

const documented = new Map(
  Array.from(docs("metrics.md").matchAll(row), ([, name, type, labels]): [string, Family] => [
    name!,
    { type: type!, labels: Array.from(labels!.matchAll(/`(\w+)`/g), ([, label]) => label!) }
  ])
)

const expressions = (
  JSON.parse(docs("grafana.json")) as {
    readonly panels: ReadonlyArray<{ readonly targets: ReadonlyArray<{ readonly expr: string }> }>
  }
).panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))

describe("/metrics after a few requests", () => {
  let exposed: ReadonlyMap<string, Family>
  let text: string
  let versions: ReadonlyArray<string | undefined>

  beforeAll(async () => {
    const file = join(temporaryFolder(), "tachograph.db")
    const env = { TACHOGRAPH_API_KEY: apiKey, TACHOGRAPH_STORAGE: `sqlite:${file}`, TACHOGRAPH_LOG_LEVEL: "none" }
    const server = await serve(["--port", "0", "--proxy", "--backup", temporaryFolder()], { env })
    const client = HttpClient.open(server.url, apiKey)
    const { body } = await client.put("/api/v1/fingerprints", { language: "c", language_version: "1", system: "linux" })
    const properties = { api: "aisdk", inputs: { n: 1 }, output: {} }
    const event = { event_name: "llm", fingerprint_id: body.fingerprint_id, session: "s", properties }
    const recorded = await client.post("/api/v1/events", event)
    expect(recorded.status).toBe(200)
    expect((await client.get("/nowhere")).status).toBe(404)
    expect((await client.post("/otlp/v1/metrics", {})).status).toBe(200)
    // An event that cannot be committed.
    const database = new DatabaseSync(file, { timeout: 30_000 })
    database.exec("CREATE TRIGGER planted BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'planted'); END")
    expect((await client.post("/api/v1/events", { ...event, session: "t" })).status).toBe(500)
    database.exec("DROP TRIGGER planted")
    // An event that is damaged.
    database.exec("UPDATE packs SET pack = zeroblob(length(pack))")
    database.close()
    expect((await client.get(`/api/v1/events/${recorded.body.event_id}`)).body.type).toBe("event-damaged")
    // What the storage does meanwhile, such as a backup, ends.
    await vi.waitFor(
      async () => {
        text = (await client.get("/metrics")).text
        expect(text).toContain("\ntachograph_storage_operations 0\n")
      },
      { timeout: 60_000, interval: 20 }
    )
    versions = [
      (await client.get("/health")).body.version,
      (await client.get("/api/v1/me")).body.version,
      /^tachograph_build_info\{version="(.*)"\} 1$/m.exec(text)?.[1]
    ]
    exposed = families(text)
    expect((await server.stop()).code).toBe(0)
  })

  it("exposes exactly the documented metrics, with their types and labels", () => {
    const expected = Array.from(documented).filter(([name]) => !workerMetrics.includes(name))
    expect(Object.fromEntries(exposed)).toEqual(Object.fromEntries(expected))
    expect(documented.size - expected.length).toBe(workerMetrics.length)
  })

  it("has the one version of all packages, as everything that says a version", async () => {
    const { stdout } = await runInProcess(["--version"])
    const manifests = globSync("../../../packages/*/package.json", { cwd: import.meta.dirname })
      .map((file) => JSON.parse(readFileSync(join(import.meta.dirname, file), "utf8")) as Record<string, unknown>)
      .filter((manifest) => manifest["private"] !== true)
    expect(manifests.length).toBeGreaterThan(12)
    expect(
      new Set([...manifests.map(({ version }) => version), ...versions, stdout.slice("tachograph v".length, -1)]).size
    ).toBe(1)
  })

  it("counts the requests", () => {
    const lines = text.split("\n")
    expect(lines).toContain("tachograph_events_total 1")
    expect(lines).toContain("tachograph_commit_failures_total 1")
    expect(lines).toContain('tachograph_storage_failures_total{operation="appendEvents"} 1')
    expect(lines).toContain('tachograph_storage_operation_seconds_count{operation="appendEvents"} 2')
    expect(lines).toContain('tachograph_http_refusals_total{type="internal"} 1')
    expect(lines).toContain("tachograph_damaged_reads_total 1")
    expect(lines).toContain("tachograph_queue_events 0")
    expect(lines).toContain("tachograph_storage_operations 0")
  })

  it("exposes every metric that the dashboard uses", () => {
    expect(expressions.length).toBeGreaterThan(8)
    for (const expression of expressions) {
      expect(namesIn(expression).size, expression).toBeGreaterThan(0)
      for (const name of namesIn(expression)) expect(Array.from(exposed.keys()), expression).toContain(name)
    }
  })

  it("exposes every metric that the documentation's alerts use", () => {
    for (const name of namesIn(docs("metrics.md"))) expect(Array.from(documented.keys())).toContain(name)
  })
})
