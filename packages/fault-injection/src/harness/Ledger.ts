/** Records what was sent and answered, and compares it with the events in the storage. */
import * as Events from "./Events.ts"
import * as Http from "./Http.ts"
import type { Server } from "./Server.ts"

/** Unknown: the connection broke before the response, so the event may or may not be stored. */
export type Outcome =
  | { readonly kind: "acknowledged"; readonly id: string; readonly receivedAt: string; readonly isReplay: boolean }
  | { readonly kind: "refused"; readonly reason: string; readonly retryAfter: string | undefined }
  | { readonly kind: "unknown"; readonly reason: string }

export interface Entry extends Events.EventSpec {
  /** The greatest id acknowledged before this event was sent. */
  readonly after: string
  readonly outcome: Outcome
  /** From sending the event to its response. */
  readonly ms: number
}

export const acknowledged = (entries: ReadonlyArray<Entry>) =>
  entries.flatMap(({ outcome, ...entry }) => (outcome.kind === "acknowledged" ? [{ ...entry, ...outcome }] : []))

/** What is wrong with refusals: all must be 503 and say when to retry. */
export const wrongRefusals = (entries: ReadonlyArray<Entry>): ReadonlyArray<string> => {
  const wrong = entries.flatMap(({ outcome }) => {
    if (outcome.kind !== "refused") return []
    if (!outcome.reason.startsWith("503 ")) return [`with ${outcome.reason} instead of 503`]
    // In seconds. The server does not use the other form, a date.
    return /^\d+$/.test(outcome.retryAfter ?? "") ? [] : [`with ${outcome.reason} without Retry-After`]
  })
  return Array.from(
    Map.groupBy(wrong, (text) => text),
    ([text, { length }]) => `${length} events were refused ${text}`
  )
}

export interface Reader {
  /** The ids of a session's events. */
  readonly list: (session: string) => Promise<ReadonlyArray<string>>
  /** The text of the whole event. Undefined if there is no such event. */
  readonly read: (id: string) => Promise<string | undefined>
}

export interface Result {
  /** Events in the storage. */
  readonly found: number
  /** Events in the storage that were refused. Allowed for `storage-unavailable`: the commit may have succeeded. */
  readonly refusedButFound: number
  readonly violations: ReadonlyArray<string>
}

/** Concurrent requests. */
const concurrency = 16

const inParallel = async <A>(items: Iterable<A>, work: (item: A) => Promise<void>): Promise<void> => {
  const remaining = items[Symbol.iterator]()
  const worker = async () => {
    for (let next = remaining.next(); !next.done; next = remaining.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}

/** Checks that each acknowledged event is stored under its id, none is stored twice, and each stored event is as it was sent. */
export const check = async (reader: Reader, entries: ReadonlyArray<Entry>): Promise<Result> => {
  const sent = new Map(entries.map((entry) => [Events.markerOf(entry), entry]))
  const violations: Array<string> = []
  const idsByMarker = new Map<string, Array<string>>()

  const checkEvent = async (id: string, session: string) => {
    const text = await reader.read(id)
    if (text === undefined) return violations.push(`${id} is listed but cannot be read`)
    const marker = Events.markerIn(text)
    const entry = marker === undefined ? undefined : sent.get(marker)
    if (marker === undefined || entry?.session !== session) {
      return violations.push(`${id} was not sent: ${text.slice(0, 200)}`)
    }
    if (!text.includes(`{"api":"aisdk",${Events.payloadOf(entry)}}`)) {
      violations.push(`${marker} is stored as ${id}, but differs from what was sent`)
    }
    return idsByMarker.set(marker, [...(idsByMarker.get(marker) ?? []), id])
  }

  await inParallel(new Set(entries.map(({ session }) => session)), async (session) => {
    const ids = await reader.list(session)
    if (new Set(ids).size < ids.length) violations.push(`the list of ${session} contains duplicates`)
    for (const id of new Set(ids)) await checkEvent(id, session)
  })
  let refusedButFound = 0
  await inParallel(sent, async ([marker, { outcome }]) => {
    const ids = idsByMarker.get(marker) ?? []
    if (ids.length > 1) violations.push(`${marker} is stored ${ids.length} times: ${ids.join(", ")}`)
    if (outcome.kind === "acknowledged" && !ids.includes(outcome.id)) {
      const isReadable = (await reader.read(outcome.id)) !== undefined
      violations.push(`${marker} was acknowledged as ${outcome.id}, which is ${isReadable ? "not listed" : "missing"}`)
    }
    if (outcome.kind === "refused" && ids.length > 0) {
      refusedButFound++
      if (outcome.reason !== "503 storage-unavailable") {
        violations.push(`${marker} was refused (${outcome.reason}), but is stored`)
      }
    }
  })
  return { found: idsByMarker.size, refusedButFound, violations }
}

/** Events per page. */
const pageSize = 100

/** Reads from a server. Rejects on any status but 200 and 404. */
export const readerOf = (server: Server): Reader & { readonly close: () => void } => {
  const http = Http.open(server.url, server.key)
  const get = async (path: string) => {
    const { status, text } = await http.call("GET", path)
    if (status === 200) return text
    if (status === 404) return undefined
    throw new Error(`GET ${path}: ${status} ${text.slice(0, 200)}`)
  }
  return {
    list: async (session) => {
      const ids: Array<string> = []
      const query = new URLSearchParams({ session, limit: String(pageSize) })
      for (;;) {
        const page = JSON.parse((await get(`/api/v1/events?${query}`)) ?? "")
        for (const event of page.events) ids.push(event.event_id)
        if (page.next_cursor === null) return ids
        query.set("cursor", page.next_cursor)
      }
    },
    read: (id) => get(`/api/v1/events/${id}`),
    close: http.close
  }
}
