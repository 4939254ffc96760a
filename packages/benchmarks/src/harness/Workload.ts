/** Workloads: the bodies of Create Event requests, from a file or generated. */
import { spawn } from "node:child_process"
import { createReadStream, existsSync } from "node:fs"
import { basename } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

export interface Workload {
  readonly name: string
  readonly bodies: ReadonlyArray<Buffer>
  /** Total size of the bodies. */
  readonly bytes: number
}

const sharedFile = (name: string) => fileURLToPath(new URL(`../../../../../shared/workloads/${name}`, import.meta.url))
const expander = sharedFile("expand.mjs")

const make = (name: string, bodies: ReadonlyArray<Buffer>): Workload => ({
  name,
  bodies,
  bytes: bodies.reduce((sum, body) => sum + body.length, 0)
})

/** Replaces the fingerprint's id with that of the benchmark's fingerprint. The rest of the line is unchanged. */
const withFingerprint = (line: string, fingerprintId: string): Buffer => {
  const { fingerprint_id: original } = JSON.parse(line) as { readonly fingerprint_id: string }
  return Buffer.from(
    original === fingerprintId ? line : line.replace(JSON.stringify(original), JSON.stringify(fingerprintId))
  )
}

const firstLine = async (file: string): Promise<string> => {
  for await (const line of createInterface({ input: createReadStream(file) })) if (line.trim() !== "") return line
  throw new Error(`${file} is empty: expected the body of an event on each line`)
}

const linesOf = async (file: string, fingerprintId: string) => {
  const isEvents = "event_name" in (JSON.parse(await firstLine(file)) as object)
  if (isEvents) return createReadStream(file)
  if (!existsSync(expander)) {
    throw new Error(`${file} contains no bodies of events, and the program to expand it, ${expander}, does not exist`)
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

/** Calls of the generated run. */
const sampleCalls = 300

/** A generated run, for use without a file. */
export const sample = async (fingerprintId: string): Promise<Workload> => {
  // Imported only here: it loads vitest, which must not affect measurements.
  const { RoundTrip } = await import("@tachograph/testkit")
  return make(
    "generated sample run",
    Array.from(RoundTrip.sampleRun(fingerprintId, sampleCalls), (body) => Buffer.from(body))
  )
}

/** The recorded run of a coding agent if it exists beside the repository, or else the generated run. */
export const codingRun = async (fingerprintId: string): Promise<Workload> => {
  const file = sharedFile("coding-run.json")
  return existsSync(file) ? read(file, fingerprintId) : sample(fingerprintId)
}
