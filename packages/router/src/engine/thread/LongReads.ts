/** Which exchanges the reading thread answers, so that recording does not wait for them. */
import type { Exchange } from "../../Engine.ts"

/** Endpoints that read many rows. */
const lists: ReadonlySet<string> = new Set([
  "listEvents",
  "readStorage",
  "listFingerprints",
  "listAgents",
  "listAgentVersions",
  "listPeople"
])

/** Endpoints that read one event. */
const events: ReadonlySet<string> = new Set(["getEvent", "getEventMessages"])

/** Smaller events are read beside recording: one of them is not worth another thread with its memory (bytes). */
const largeEventBytes = 64 * 1024

/** `eventBytes` is the size of the event that is read, where it is known. */
export const isLongRead = ({ endpoint }: Pick<Exchange, "endpoint">, eventBytes = 0): boolean =>
  lists.has(endpoint) || (events.has(endpoint) && eventBytes >= largeEventBytes)
