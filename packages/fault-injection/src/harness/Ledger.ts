/** What was sent and what was answered, held against what is there afterwards. */
import * as Events from "./Events.ts"
import * as Http from "./Http.ts"
import type { Server } from "./Server.ts"

/** An answer that never came leaves open whether the event was kept. */
export type Outcome =
  | { readonly is: "acknowledged"; readonly id: string; readonly receivedAt: string; readonly isReplay: boolean }
  | { readonly is: "refused"; readonly why: string }
  | { readonly is: "unknown"; readonly why: string }

export interface Entry extends Events.Place {
  /** The greatest id that had been acknowledged when it was sent. */
  readonly after: string
  readonly outcome: Outcome
  /** From sending it to the answer. */
  readonly ms: number
}

export const acknowledged = (entries: ReadonlyArray<Entry>) =>
  entries.flatMap(({ outcome, ...entry }) => (outcome.is === "acknowledged" ? [{ ...entry, ...outcome }] : []))

export interface Reader {
  /** The ids of a session's events. */
  readonly list: (session: string) => Promise<ReadonlyArray<string>>
  /** The whole event's text; undefined where there is none. */
  readonly read: (id: string) => Promise<string | undefined>
}

export interface Verdict {
  /** Events that are there. */
  readonly found: number
  /** Of those, the ones that were refused as `storage-unavailable`: as with no answer at all, the commit may have gone through. */
  readonly foundThoughRefused: number
  readonly broken: ReadonlyArray<string>
}

/** Requests at once. */
const concurrency = 16

const inParallel = async <A>(items: Iterable<A>, work: (item: A) => Promise<void>): Promise<void> => {
  const rest = items[Symbol.iterator]()
  const worker = async () => {
    for (let next = rest.next(); !next.done; next = rest.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}

/** Every acknowledged event is there under its id, none is there twice, and whatever is there was sent, and is whole. */
export const check = async (reader: Reader, entries: ReadonlyArray<Entry>): Promise<Verdict> => {
  const sent = new Map(entries.map((entry) => [Events.markerOf(entry), entry]))
  const broken: Array<string> = []
  const found = new Map<string, Array<string>>()

  const look = async (id: string, session: string) => {
    const text = await reader.read(id)
    if (text === undefined) return broken.push(`${id} is listed and cannot be read`)
    const marker = Events.markerIn(text)
    const entry = marker === undefined ? undefined : sent.get(marker)
    if (marker === undefined || entry?.session !== session) {
      return broken.push(`${id} was not sent: ${text.slice(0, 200)}`)
    }
    if (!text.includes(`{"api":"aisdk",${Events.payloadOf(entry)}}`)) {
      broken.push(`${marker} is there as ${id}, and is not what was sent`)
    }
    return found.set(marker, [...(found.get(marker) ?? []), id])
  }

  await inParallel(new Set(entries.map(({ session }) => session)), async (session) => {
    const ids = await reader.list(session)
    if (new Set(ids).size < ids.length) broken.push(`the list of ${session} repeats itself`)
    for (const id of new Set(ids)) await look(id, session)
  })
  let foundThoughRefused = 0
  await inParallel(sent, async ([marker, { outcome }]) => {
    const ids = found.get(marker) ?? []
    if (ids.length > 1) broken.push(`${marker} is there ${ids.length} times: ${ids.join(", ")}`)
    if (outcome.is === "acknowledged" && !ids.includes(outcome.id)) {
      const isReadable = (await reader.read(outcome.id)) !== undefined
      broken.push(`${marker} was acknowledged as ${outcome.id}, which is ${isReadable ? "not listed" : "gone"}`)
    }
    if (outcome.is === "refused" && ids.length > 0) {
      foundThoughRefused++
      if (outcome.why !== "503 storage-unavailable") broken.push(`${marker} was refused (${outcome.why}), and is there`)
    }
  })
  return { found: found.size, foundThoughRefused, broken }
}

/** Events of one page. */
const pageSize = 100

/** Reads from a server; what it does not answer with 200 or 404 fails. */
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
