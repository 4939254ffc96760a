/** What every example does that has Tachograph in a server of its own: one suite over all of them. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { run } from "./Program.ts"

export const key = "a key of the example's own"

const event = (fingerprintId: string, inputs: string) => `{
  "event_name": "llm", "fingerprint_id": "${fingerprintId}", "session": "s",
  "properties": {"api": "openai-responses", "inputs": ${inputs}, "output": {}}
}`

interface Example {
  readonly program: URL
  /** Where it has mounted Tachograph; empty for the root. */
  readonly base: string
  /** What it answers by itself at `/`, and at a path that it does not have. */
  readonly hello: string
  readonly none: object
  readonly env?: Record<string, string>
}

export const suite = ({ base, env, hello, none, program }: Example) => {
  const start = () => run(program, { TACHOGRAPH_API_KEY: key, ...env })

  it("answers its own routes, and Tachograph's beside them", async () => {
    const app = await start()
    expect(await app.call("/", "nobody's")).toEqual({ status: 200, text: hello })
    expect(await app.call("/none", "nobody's")).toMatchObject(none)
    expect(await app.call(`${base}/api/v1/events`, "nobody's")).toEqual({
      status: 401,
      text: `{"type":"unauthorized"}`
    })
  })

  it("gives back an event to the byte, and closes the storage when it is told to end", async () => {
    const app = await start()
    const runtime = `{"language": "typescript", "language_version": "7", "system": "linux"}`
    const { fingerprint_id } = JSON.parse((await app.call(`${base}/api/v1/fingerprints`, key, runtime)).text)
    const inputs = `{"model":"m",  "temperature": 1.0}`
    const { event_id } = JSON.parse((await app.call(`${base}/api/v1/events`, key, event(fingerprint_id, inputs))).text)
    expect((await app.call(`${base}/api/v1/events/${event_id}`, key)).text).toContain(`"inputs":${inputs},`)
    const log = join(app.cwd, "tachograph.db-wal")
    expect(existsSync(log)).toBe(true)
    expect(await app.end()).toBe(0)
    // SQLite takes it away when the file is closed in order.
    expect(existsSync(log)).toBe(false)
  })
}
