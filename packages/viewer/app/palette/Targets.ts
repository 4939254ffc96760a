/** Where one can jump to from anywhere: pages, names, and ids that are pasted. */
import { places } from "../route/Places.ts"
import * as Route from "../route/Route.ts"
import { api } from "../server/Client.ts"
import * as Lists from "../server/Lists.ts"
import * as Format from "../text/Format.ts"
import * as Names from "../text/Names.ts"
import * as Words from "../text/Words.ts"
import type { Fingerprint } from "../server/Types.ts"

export interface Target {
  readonly kind: string
  readonly name: string
  /** Beside the name, and searched too. */
  readonly about: string
  readonly place: string
}

/** Names that are read of each kind: the latest sessions, the first people. */
const readNames = 200

const pages: ReadonlyArray<Target> = [
  ...places.map(({ key, name, path }) => ({ kind: "Page", name, about: `g ${key}`, place: Route.to([path]) })),
  { kind: "Page", name: "Runtimes", about: "fingerprints", place: Route.to(["fingerprints"]) }
]

const runtimeOf = (runtime: Fingerprint): Target => ({
  kind: "Runtime",
  name: Names.ofRuntime(runtime),
  about: [runtime.fingerprint_id, runtime.git_commit_hash?.slice(0, 12)].filter(Boolean).join(" · "),
  place: Route.to(["fingerprints", runtime.fingerprint_id])
})

const readers: ReadonlyArray<(signal: AbortSignal) => Promise<ReadonlyArray<Target>>> = [
  async (signal) =>
    (await Lists.usage({ group_by: "agent" }, signal)).rows.map(({ agent, events }) => ({
      kind: "Agent",
      name: agent ?? "",
      about: Format.counted(events, "call"),
      place: Route.to(["agents", agent ?? ""])
    })),
  async (signal) =>
    (await api.listSessions({ limit: readNames }, { signal })).sessions.map(({ session, title }) => ({
      kind: "Session",
      name: title === null ? session : Words.title(title),
      about: title === null ? "" : session,
      place: Route.to(["sessions", session])
    })),
  async (signal) =>
    (await api.listPeople({ limit: readNames }, { signal })).people.map(({ person_id }) => ({
      kind: "Person",
      name: person_id,
      about: "",
      place: Route.to(["people", person_id])
    })),
  async (signal) => (await Lists.fingerprints(signal)).map(runtimeOf)
]

/** Calls `add` with the names of each kind as they come. What cannot be read is left out. */
export const read = (signal: AbortSignal, add: (targets: ReadonlyArray<Target>) => void): void => {
  add(pages)
  for (const reader of readers) {
    void reader(signal).then(
      (targets) => signal.aborted || add(targets),
      () => {}
    )
  }
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const sha256 = /^[0-9a-f]{64}$/i

/** What a text can be that is none of the names. */
const pasted = (text: string): ReadonlyArray<Target> => {
  if (text === "") return []
  const target = (kind: string, place: ReadonlyArray<string>): Target => ({
    kind,
    name: text,
    about: "",
    place: Route.to(place)
  })
  const id = text.toLowerCase()
  return [
    ...(uuid.test(text) ? [target("Call", ["events", id])] : []),
    ...(sha256.test(text) ? [target("Shared text", ["shared", id])] : []),
    { ...target("Search", []), name: `“${text}”`, place: Route.to(["search"], { q: text }) },
    target("Session", ["sessions", text])
  ]
}

const maxShown = 12

/** Targets that have all words, those whose names begin with the text first; and what the text itself can be. */
export const find = (all: ReadonlyArray<Target>, given: string): ReadonlyArray<Target> => {
  const text = given.trim()
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const matching = all.filter(({ about, kind, name }) => {
    const searched = `${name} ${about} ${kind}`.toLowerCase()
    return words.every((word) => searched.includes(word))
  })
  const begins = ({ name }: Target) => (name.toLowerCase().startsWith(text.toLowerCase()) ? 0 : 1)
  const found = matching.toSorted((one, other) => begins(one) - begins(other)).slice(0, maxShown)
  const places = new Set(found.map(({ place }) => place))
  return [...found, ...pasted(text).filter(({ place }) => !places.has(place))]
}
