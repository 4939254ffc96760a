/** The ledger detects every kind of violation. */
import { expect, it } from "vitest"
import * as Events from "../src/harness/Events.ts"
import * as Ledger from "../src/harness/Ledger.ts"

const specs = [1, 2, 3].map((call) => ({ session: "s", call, size: 10 }))
const idOf = ({ call }: Events.EventSpec) => `id ${call}`

const acknowledged = (spec: Events.EventSpec): Ledger.Entry => ({
  ...spec,
  after: "",
  ms: 1,
  outcome: { kind: "acknowledged", id: idOf(spec), receivedAt: "", isReplay: false }
})

const refusal = (reason: string, retryAfter: string | undefined = "1"): Ledger.Outcome => ({
  kind: "refused",
  reason,
  retryAfter
})

/** The stored events: texts by id. */
const stored = (events: ReadonlyArray<Events.EventSpec>) =>
  new Map(events.map((spec) => [idOf(spec), Events.bodyOf(spec, "f")]))

const readerOf = (texts: ReadonlyMap<string, string>): Ledger.Reader => ({
  list: async () => [...texts.keys()],
  read: async (id) => texts.get(id)
})

const check = (texts: ReadonlyMap<string, string>, entries: ReadonlyArray<Ledger.Entry> = specs.map(acknowledged)) =>
  Ledger.check(readerOf(texts), entries)

const [first, second, third] = specs as [Events.EventSpec, Events.EventSpec, Events.EventSpec]

it("finds no violation if every event is stored", async () => {
  expect(await check(stored(specs))).toEqual({ found: 3, refusedButFound: 0, violations: [] })
})

it("detects a missing event that was acknowledged", async () => {
  const { violations } = await check(stored([first, third]))
  expect(violations).toEqual(["s/2 was acknowledged as id 2, which is missing"])
})

it("detects an event that can be read but is not listed", async () => {
  const reader = { ...readerOf(stored(specs)), list: async () => ["id 1", "id 3"] }
  const { violations } = await Ledger.check(reader, specs.map(acknowledged))
  expect(violations).toEqual(["s/2 was acknowledged as id 2, which is not listed"])
})

it("detects an event that is stored twice", async () => {
  const { violations } = await check(new Map([...stored(specs), ["id 4", Events.bodyOf(second, "f")]]))
  expect(violations).toEqual(["s/2 is stored 2 times: id 2, id 4"])
})

it("detects a list with duplicates", async () => {
  const reader = { ...readerOf(stored(specs)), list: async () => ["id 1", "id 2", "id 3", "id 1"] }
  const { violations } = await Ledger.check(reader, specs.map(acknowledged))
  expect(violations).toEqual(["the list of s contains duplicates"])
})

it("detects a changed event", async () => {
  const changed = Events.bodyOf(second, "f").replace('"content":"', '"content":"x')
  const { violations } = await check(new Map([...stored(specs), ["id 2", changed]]))
  expect(violations).toEqual(["s/2 is stored as id 2, but differs from what was sent"])
})

it("detects an event that is listed but cannot be read", async () => {
  const reader = {
    ...readerOf(stored(specs)),
    read: async (id: string) => (id === "id 2" ? undefined : stored(specs).get(id))
  }
  const { violations } = await Ledger.check(reader, specs.map(acknowledged))
  expect(violations).toEqual(["id 2 is listed but cannot be read", "s/2 was acknowledged as id 2, which is missing"])
})

it("detects an event that was not sent", async () => {
  const { violations } = await check(stored(specs), [acknowledged(first), acknowledged(second)])
  expect(violations).toEqual([expect.stringContaining("id 3 was not sent")])
})

it("allows an event to be stored or missing after no response or storage-unavailable", async () => {
  const open: ReadonlyArray<Ledger.Entry> = [
    acknowledged(first),
    { ...acknowledged(second), outcome: { kind: "unknown", reason: "ECONNRESET" } },
    { ...acknowledged(third), outcome: refusal("503 storage-unavailable") }
  ]
  expect(await check(stored(specs), open)).toEqual({ found: 3, refusedButFound: 1, violations: [] })
  expect(await check(stored([first]), open)).toEqual({ found: 1, refusedButFound: 0, violations: [] })
})

it("detects a stored event that was refused for another reason", async () => {
  const refused: Ledger.Entry = { ...acknowledged(second), outcome: refusal("503 overloaded") }
  const { violations } = await check(stored(specs), [acknowledged(first), refused, acknowledged(third)])
  expect(violations).toEqual(["s/2 was refused (503 overloaded), but is stored"])
})

it("detects refusals that are not 503 with Retry-After", () => {
  const outcomes: ReadonlyArray<Ledger.Outcome> = [
    refusal("503 overloaded"),
    refusal("500 internal"),
    refusal("500 internal"),
    refusal("503 storage-unavailable", ""),
    { kind: "refused", reason: "503 storage-unavailable", retryAfter: undefined },
    { kind: "unknown", reason: "ECONNRESET" }
  ]
  const entries = outcomes.map((outcome) => ({ ...acknowledged(first), outcome }))
  expect(Ledger.wrongRefusals(entries)).toEqual([
    "2 events were refused with 500 internal instead of 503",
    "2 events were refused with 503 storage-unavailable without Retry-After"
  ])
})
