/** That the ledger sees every way to break a promise. */
import { expect, it } from "vitest"
import * as Events from "../src/harness/Events.ts"
import * as Ledger from "../src/harness/Ledger.ts"

const places = [1, 2, 3].map((call) => ({ session: "s", call, size: 10 }))
const idOf = ({ call }: Events.Place) => `id ${call}`

const acknowledged = (place: Events.Place): Ledger.Entry => ({
  ...place,
  after: "",
  ms: 1,
  outcome: { is: "acknowledged", id: idOf(place), receivedAt: "", isReplay: false }
})

/** What is there: ids, and the events' texts. */
const kept = (events: ReadonlyArray<Events.Place>) =>
  new Map(events.map((place) => [idOf(place), Events.bodyOf(place, "f")]))

const readerOf = (texts: ReadonlyMap<string, string>): Ledger.Reader => ({
  list: async () => [...texts.keys()],
  read: async (id) => texts.get(id)
})

const check = (texts: ReadonlyMap<string, string>, entries: ReadonlyArray<Ledger.Entry> = places.map(acknowledged)) =>
  Ledger.check(readerOf(texts), entries)

const [first, second, third] = places as [Events.Place, Events.Place, Events.Place]

it("finds nothing wrong where everything is kept", async () => {
  expect(await check(kept(places))).toEqual({ found: 3, foundThoughRefused: 0, broken: [] })
})

it("misses an event that was acknowledged", async () => {
  const { broken } = await check(kept([first, third]))
  expect(broken).toEqual(["s/2 was acknowledged as id 2, which is gone"])
})

it("misses an event that can be read and is not listed", async () => {
  const reader = { ...readerOf(kept(places)), list: async () => ["id 1", "id 3"] }
  const { broken } = await Ledger.check(reader, places.map(acknowledged))
  expect(broken).toEqual(["s/2 was acknowledged as id 2, which is not listed"])
})

it("sees an event that is there twice", async () => {
  const { broken } = await check(new Map([...kept(places), ["id 4", Events.bodyOf(second, "f")]]))
  expect(broken).toEqual(["s/2 is there 2 times: id 2, id 4"])
})

it("sees a list that repeats itself", async () => {
  const reader = { ...readerOf(kept(places)), list: async () => ["id 1", "id 2", "id 3", "id 1"] }
  const { broken } = await Ledger.check(reader, places.map(acknowledged))
  expect(broken).toEqual(["the list of s repeats itself"])
})

it("sees half an event", async () => {
  const half = Events.bodyOf(second, "f").replace('"content":"', '"content":"x')
  const { broken } = await check(new Map([...kept(places), ["id 2", half]]))
  expect(broken).toEqual(["s/2 is there as id 2, and is not what was sent"])
})

it("sees an event that is listed and cannot be read", async () => {
  const reader = {
    ...readerOf(kept(places)),
    read: async (id: string) => (id === "id 2" ? undefined : kept(places).get(id))
  }
  const { broken } = await Ledger.check(reader, places.map(acknowledged))
  expect(broken).toEqual(["id 2 is listed and cannot be read", "s/2 was acknowledged as id 2, which is gone"])
})

it("sees an event that nobody sent", async () => {
  const { broken } = await check(kept(places), [acknowledged(first), acknowledged(second)])
  expect(broken).toEqual([expect.stringContaining("id 3 was not sent")])
})

it("lets an event be there or not where no answer came, or the storage was out of reach", async () => {
  const open: ReadonlyArray<Ledger.Entry> = [
    acknowledged(first),
    { ...acknowledged(second), outcome: { is: "unknown", why: "ECONNRESET" } },
    { ...acknowledged(third), outcome: { is: "refused", why: "503 storage-unavailable" } }
  ]
  expect(await check(kept(places), open)).toEqual({ found: 3, foundThoughRefused: 1, broken: [] })
  expect(await check(kept([first]), open)).toEqual({ found: 1, foundThoughRefused: 0, broken: [] })
})

it("lets no event be there that was refused otherwise", async () => {
  const refused: Ledger.Entry = { ...acknowledged(second), outcome: { is: "refused", why: "503 overloaded" } }
  const { broken } = await check(kept(places), [acknowledged(first), refused, acknowledged(third)])
  expect(broken).toEqual(["s/2 was refused (503 overloaded), and is there"])
})
