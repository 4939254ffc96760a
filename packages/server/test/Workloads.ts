/**
 * Complete agent runs to record. The real workloads are used if they are present beside the repository; otherwise there is
 * only the built-in sample run, and `title` says so.
 */
import { type HttpClient, RandomJson, RoundTrip, Workloads } from "@tachograph/testkit"

const { areAvailable, expand, placeholder } = Workloads

/** How many calls of each workload are recorded. Calls of the coding run carry their whole history: its 431 send 160 MB. */
const calls = {
  "calls.ndjson": RandomJson.runs(200),
  "airline-runs.ndjson": RandomJson.runs(200),
  "coding-run.json": RandomJson.runs(80)
}

const workloads: Readonly<Record<string, () => Promise<ReadonlyArray<Buffer>>>> = {
  "a sample run": async () => Array.from(RoundTrip.sampleRun(placeholder), (body) => Buffer.from(body)),
  ...(areAvailable
    ? Object.fromEntries(
        Object.entries(calls).map(([file, max]) => [`the first ${max} calls of ${file}`, () => expand(file, max)])
      )
    : {})
}

export const title = Object.keys(workloads).join(", ") + (areAvailable ? "" : " (the real workloads are not available)")

/** The name of a body's session as JSON, which stands before the payload. */
const sessionOf = (body: Buffer) => /"session":("(?:[^"\\]|\\.)*")/.exec(body.toString("utf8", 0, 2_000))![1]!

/** The request bodies of all workloads, by session, in the order in which they must be sent. */
const readSessions = async () => {
  const sessions = new Map<string, Array<Buffer>>()
  for (const bodies of await Promise.all(Object.values(workloads).map((read) => read()))) {
    for (const body of bodies) {
      const session = sessionOf(body)
      sessions.set(session, [...(sessions.get(session) ?? []), body])
    }
  }
  // The longest first, so that no lane is left with it at the end.
  return Array.from(sessions.values()).toSorted((a, b) => b.length - a.length)
}

let expansion: ReturnType<typeof readSessions> | undefined

const withFingerprint = (body: Buffer, fingerprintId: string) => {
  const own = Buffer.from(body)
  own.write(fingerprintId, own.indexOf(placeholder))
  return own
}

/** Sessions that are read at the same time. */
const readers = 8

export interface Recorded {
  readonly events: number
  /** The ids of the events whose payload is not returned byte for byte. Reads each session through the next client. */
  readonly differences: (clients: ReadonlyArray<HttpClient.Client>) => Promise<ReadonlyArray<string>>
}

/**
 * Records every workload: each client a session after another, and its events in order. One event at a time for each client
 * keeps the queues of the servers short.
 */
export const record = async (clients: ReadonlyArray<HttpClient.Client>): Promise<Recorded> => {
  // Before the first request: servers close connections that are idle for 5 s.
  const toSend = (await (expansion ??= readSessions())).values()
  const fingerprint = { language: "typescript", language_version: "7", system: "linux" }
  const { body } = await clients[0]!.put("/api/v1/fingerprints", fingerprint)
  const sessions: Array<{ readonly client: number; readonly sent: ReadonlyArray<RoundTrip.Sent> }> = []
  const send = async (client: number) => {
    for (const bodies of toSend) {
      const own = bodies.map((text) => withFingerprint(text, body.fingerprint_id))
      sessions.push({ client, sent: await RoundTrip.send(clients[client]!, own) })
    }
  }
  await Promise.all(Array.from(clients.keys(), send))
  return {
    events: sessions.reduce((sum, { sent }) => sum + sent.length, 0),
    differences: async (readingClients) => {
      const toRead = sessions.values()
      const different: Array<string> = []
      const read = async () => {
        for (const { client, sent } of toRead) {
          const reader = readingClients[(client + 1) % readingClients.length]!
          different.push(...(await RoundTrip.differences(reader, sent)))
        }
      }
      await Promise.all(Array.from({ length: readers }, read))
      return different
    }
  }
}
