/** Which exchanges the reading thread answers, so that recording does not wait for them. */
import type { Exchange } from "../../Engine.ts"

/** Endpoints that read many rows, whole sessions, or a text of any size. */
const lists: ReadonlySet<string> = new Set([
  "listEvents",
  "listSessions",
  "getSession",
  "readUsage",
  "streamEvents",
  "readStorage",
  "listFingerprints",
  "listAgents",
  "listAgentVersions",
  "listPeople",
  "listConfigurations",
  "listSessionMessages",
  "listSessionCalls",
  "getSharedText",
  "search",
  "export"
])

/** Endpoints that read one event. */
const events: ReadonlySet<string> = new Set(["getEvent", "getEventMessages", "getEventInputs", "getEventOutput"])

/** One smaller event is not worth another thread with its memory (bytes). */
const largeEventBytes = 64 * 1024

/** `eventBytes` is the size of the event that is read, where it is known. */
export const isLongRead = ({ endpoint }: Pick<Exchange, "endpoint">, eventBytes = 0): boolean =>
  lists.has(endpoint) || (events.has(endpoint) && eventBytes >= largeEventBytes)

/** What a thread has been asked and has not answered. */
interface Load {
  readonly inFlight: number
  readonly isFrozen: boolean
}

/** Whether the reading thread reads an event of any size: it runs already, and has less to do than the engine's. */
export const isForReader = (
  { endpoint }: Pick<Exchange, "endpoint">,
  reader: Load | undefined,
  engine: Load
): boolean => events.has(endpoint) && reader !== undefined && !reader.isFrozen && reader.inFlight < engine.inFlight
