/** Exports, imports of them, and whether another export is the same. */
import { createHash } from "node:crypto"
import { createWriteStream, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Transform } from "node:stream"
import { pipeline } from "node:stream/promises"
import * as Databases from "../harness/Databases.ts"
import { largest } from "../harness/Options.ts"
import * as Processes from "../harness/Processes.ts"
import * as Recording from "../harness/Recording.ts"
import * as Serve from "../harness/Serve.ts"
import { answerTo } from "../harness/Servers.ts"
import { decimal, integer, print, progress } from "../harness/Table.ts"
import * as FilledStore from "./FilledStore.ts"
import type { Options } from "./Options.ts"

interface Passed {
  readonly seconds: number
  readonly bytes: number
  readonly sha256: string
}

/** Passes a request or an answer through, and looks at its bytes. */
const through = async (
  stages: ReadonlyArray<NodeJS.ReadWriteStream | NodeJS.WritableStream>,
  from: NodeJS.ReadableStream
) => {
  const hash = createHash("sha256")
  let bytes = 0
  const look = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      hash.update(chunk)
      bytes += chunk.length
      done(null, chunk)
    }
  })
  await pipeline([from, look, ...stages] as [NodeJS.ReadableStream, ...Array<NodeJS.ReadWriteStream>])
  return { bytes, sha256: hash.digest("hex") }
}

const exportTo = async (url: string, file: string): Promise<Passed> => {
  const startedAt = performance.now()
  const passed = await through([createWriteStream(file)], await answerTo(url, "/api/v1/export"))
  return { ...passed, seconds: (performance.now() - startedAt) / 1_000 }
}

/** The seconds of an import. Fails if a line is refused. */
const importFrom = async (url: string, file: string): Promise<number> => {
  const startedAt = performance.now()
  let text = ""
  for await (const chunk of await answerTo(url, "/api/v1/import?answers=failed", file)) text += String(chunk)
  const end = JSON.parse(text.trimEnd().split("\n").at(-1)!) as { readonly type: string; readonly failed?: number }
  if (end.type !== "end" || end.failed !== 0) throw new Error(`The import failed: ${text.slice(0, 500)}`)
  return (performance.now() - startedAt) / 1_000
}

const rate = ({ bytes }: Passed, seconds: number) => decimal(bytes / 1e6 / seconds, 1)

/** Resident memory before, and at most since, in MB. */
const memoryOf = (pid: number, before: number) =>
  `${decimal(before / 1e6, 0)} → ${decimal(Processes.memoryOf(pid, "VmHWM") / 1e6, 0)}`

interface Store {
  readonly name: string
  readonly events: number
  /** The value of `--storage`. */
  readonly url: string
}

const measure = async (
  store: Store,
  folder: string,
  targets: ReadonlyArray<() => Promise<Store & { readonly remove: () => Promise<void> }>>
) => {
  const rows: Array<ReadonlyArray<string>> = []
  const file = join(folder, "export.ndjson")
  const again = join(folder, "again.ndjson")
  progress(`exports: ${store.name}`)
  const source = await Serve.serve(store.url)
  const before = Processes.memoryOf(source.pid, "VmRSS")
  const first = await exportTo(source.url, file).finally(() => {})
  const exportMemory = memoryOf(source.pid, before)
  await source.stop()
  const perSecond = (seconds: number) => integer(Math.round(store.events / seconds))
  rows.push([
    `${store.name}: export`,
    decimal(first.bytes / 1e6, 1),
    rate(first, first.seconds),
    perSecond(first.seconds),
    exportMemory,
    ""
  ])
  for (const make of targets) {
    const target = await make()
    progress(`exports: ${store.name}, import into ${target.name}`)
    const served = await Serve.serve(target.url)
    try {
      const idle = Processes.memoryOf(served.pid, "VmRSS")
      const seconds = await importFrom(served.url, file)
      const memory = memoryOf(served.pid, idle)
      const second = await exportTo(served.url, again)
      rows.push([
        `import into ${target.name}`,
        decimal(first.bytes / 1e6, 1),
        rate(first, seconds),
        perSecond(seconds),
        memory,
        second.sha256 === first.sha256 ? "identical" : "DIFFERS"
      ])
      rows.push([
        `export again from ${target.name}`,
        decimal(second.bytes / 1e6, 1),
        rate(second, second.seconds),
        perSecond(second.seconds),
        memoryOf(served.pid, idle),
        ""
      ])
    } finally {
      await served.stop()
      await target.remove()
    }
  }
  return rows
}

const targetsOf = (options: Options) => {
  const over = (make: () => Databases.Database) => async () => {
    const database = make()
    return { name: database.kind, events: 0, url: Databases.urlOf(database), remove: database.remove }
  }
  const memory = async () => ({ name: "memory", events: 0, url: "memory:", remove: async () => {} })
  const { postgres } = options
  return [
    memory,
    over(Databases.sqlite),
    ...(postgres === undefined ? [] : [over(() => Databases.postgres(postgres.url))])
  ]
}

export const exports = async (options: Options): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "tachograph-exports-"))
  try {
    const { bodies, name } = largest(options)
    Serve.fillCompileCache()
    const run = Databases.sqlite()
    await Recording.recordAll(run.storage, bodies)
    const stored = statSync(Databases.fileOf(run)).size
    const rows = await measure({ name, events: bodies.length, url: Databases.urlOf(run) }, folder, targetsOf(options))
    await run.remove()
    const filled = await FilledStore.open(Databases.sqlite, options.events)
    const many = { name: `${integer(options.events)} events`, events: options.events, url: Databases.urlOf(filled) }
    rows.push(...(await measure(many, folder, targetsOf(options).slice(1))))
    print({
      title: "Exports and imports",
      columns: ["", "MB", "MB/s", "events/s", "MB of memory, before → peak", "exported again"],
      rows,
      notes: [
        `\`GET /api/v1/export\` of \`tachograph serve\` over SQLite, written to a file; \`POST /api/v1/import\` of the file into a new server, and its export. ` +
          `One run each. ${name} takes ${decimal(stored / 1e6, 2)} MB in SQLite. The memory is that of the whole process.`
      ]
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
