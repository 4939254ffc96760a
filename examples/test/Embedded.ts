/** The tests that all examples with an embedded Tachograph share. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, expect, it } from "vitest"
import { type Program, run } from "./Program.ts"

export const key = "the example's static key"

const event = (fingerprintId: string, inputs: string) => `{
  "event_name": "llm", "fingerprint_id": "${fingerprintId}", "session": "s",
  "properties": {"api": "openai-responses", "inputs": ${inputs}, "output": {}}
}`

interface Example {
  readonly program: URL
  /** The path at which Tachograph is mounted; empty for the root. */
  readonly base: string
  /** The example's own response at `/`. */
  readonly hello: string
  /** The example's own response at an unknown path. */
  readonly none: object
  readonly env?: Record<string, string>
}

/** `more` adds cases of the example's own, which run first, over the same process. */
export const suite = ({ base, env, hello, none, program }: Example, more?: (app: () => Program) => void) => {
  let app: Program

  beforeAll(async () => {
    let cleanup = async () => {}
    app = await run(program, { TACHOGRAPH_API_KEY: key, ...env }, (registered) => (cleanup = registered))
    return cleanup
  })

  more?.(() => app)

  it("serves its own routes and Tachograph's", async () => {
    expect(await app.call("/", "unknown")).toEqual({ status: 200, text: hello })
    expect(await app.call("/none", "unknown")).toMatchObject(none)
    expect(await app.call(`${base}/api/v1/events`, "unknown")).toEqual({
      status: 401,
      text: `{"type":"unauthorized"}`
    })
  })

  it("returns an event byte for byte, and closes the storage on SIGTERM", async () => {
    const runtime = `{"language": "typescript", "language_version": "7", "system": "linux"}`
    const { fingerprint_id } = JSON.parse((await app.call(`${base}/api/v1/fingerprints`, key, runtime)).text)
    const inputs = `{"model":"m",  "temperature": 1.0}`
    const { event_id } = JSON.parse((await app.call(`${base}/api/v1/events`, key, event(fingerprint_id, inputs))).text)
    expect((await app.call(`${base}/api/v1/events/${event_id}`, key)).text).toContain(`"inputs":${inputs},`)
    const log = join(app.cwd, "tachograph.db-wal")
    expect(existsSync(log)).toBe(true)
    expect(await app.stop()).toBe(0)
    // SQLite deletes the log when the database is closed properly.
    expect(existsSync(log)).toBe(false)
  })
}
