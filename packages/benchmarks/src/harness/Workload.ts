/** The events that are recorded: the bodies of Create Event, as they stand in a file. */
import { spawn } from "node:child_process"
import { createReadStream, existsSync } from "node:fs"
import { basename } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

export interface Workload {
  readonly name: string
  readonly bodies: ReadonlyArray<Buffer>
  /** Bytes of the bodies. */
  readonly bytes: number
}

const beside = (name: string) => fileURLToPath(new URL(`../../../../../shared/workloads/${name}`, import.meta.url))
const expander = beside("expand.mjs")

const make = (name: string, bodies: ReadonlyArray<Buffer>): Workload => ({
  name,
  bodies,
  bytes: bodies.reduce((sum, body) => sum + body.length, 0)
})

/** With the fingerprint that the benchmark has registered in place of the file's own; nothing else is touched. */
const withFingerprint = (line: string, fingerprintId: string): Buffer => {
  const { fingerprint_id: found } = JSON.parse(line) as { readonly fingerprint_id: string }
  return Buffer.from(
    found === fingerprintId ? line : line.replace(JSON.stringify(found), JSON.stringify(fingerprintId))
  )
}

const firstLine = async (file: string): Promise<string> => {
  for await (const line of createInterface({ input: createReadStream(file) })) if (line.trim() !== "") return line
  throw new Error(`${file} is empty: expected a file with the body of an event on every line`)
}

const linesOf = async (file: string, fingerprintId: string) => {
  const isEvents = "event_name" in (JSON.parse(await firstLine(file)) as object)
  if (isEvents) return createReadStream(file)
  if (!existsSync(expander)) {
    throw new Error(`${file} holds no bodies of events, and ${expander}, which could make some of it, is not there`)
  }
  const child = spawn(process.execPath, [expander, file, fingerprintId], { stdio: ["ignore", "pipe", "inherit"] })
  return child.stdout
}

export const read = async (file: string, fingerprintId: string): Promise<Workload> => {
  const bodies: Array<Buffer> = []
  for await (const line of createInterface({ input: await linesOf(file, fingerprintId), crlfDelay: Infinity })) {
    if (line.trim() !== "") bodies.push(withFingerprint(line, fingerprintId))
  }
  return make(basename(file), bodies)
}

/** Calls of the project's own run. */
const sampleCalls = 300

/** The project's own, for whoever has no file. */
export const sample = async (fingerprintId: string): Promise<Workload> => {
  // Brings vitest along, which is not wanted in what is measured.
  const { Replay } = await import("@tachograph/testkit")
  return make(
    "a sample run, made up",
    Array.from(Replay.sampleRun(fingerprintId, sampleCalls), (body) => Buffer.from(body))
  )
}

/** The run of a coding agent that lies beside the project, or else the project's own. */
export const codingRun = async (fingerprintId: string): Promise<Workload> => {
  const file = beside("coding-run.json")
  return existsSync(file) ? read(file, fingerprintId) : sample(fingerprintId)
}
