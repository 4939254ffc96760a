/** Erasures where pages of tables are malformed that are derived from nothing. */
import { PersonId, SessionId } from "@tachograph/core"
import { StorageSuite, TestSeed } from "@tachograph/testkit"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { beforeAll, expect, it } from "vitest"
import * as SalvageStore from "./SalvageStore.ts"
import { temporaryFile } from "./TemporaryFile.ts"
import { withRecorder } from "./WithRecorder.ts"

const { Calls, PageDamage, PlantedWords } = StorageSuite
const { words } = PlantedWords

const script = fileURLToPath(new URL("fixtures/repairAndDie.ts", import.meta.url))

const { seed } = TestSeed
const runs = Number(process.env["TACHOGRAPH_TEST_RUNS"] ?? 1)
/** Of the events that others have, one in so many is read before and after. */
const sample = runs > 1 ? 1 : 5

let store: SalvageStore.Store
beforeAll(async () => {
  store = await SalvageStore.fill(temporaryFile())
})

const isMalformed = (file: string, table: string): boolean => {
  const database = new DatabaseSync(file)
  try {
    const [row] = database.prepare(`PRAGMA integrity_check("${table}")`).all()
    return Object.values(row!)[0] !== "ok"
  } catch {
    return true
  } finally {
    database.close()
  }
}

/** Kinds that SQLite refuses wherever it comes across them. */
const blatant = ["zeros", "garbage in the header", "another type"] as const

/** Draws the same in each round of a test with the same seed. */
const drawsOf = (round: number) => {
  const random = Calls.random(seed * 1_000_003 + round)
  return { random, oneOf: <A>(values: ReadonlyArray<A>): A => values[random(values.length)]! }
}

it.each(SalvageStore.tables)(
  `erases everything where the first page of %s is malformed, seed ${seed}`,
  async (table) => {
    const { oneOf, random } = drawsOf(SalvageStore.tables.indexOf(table))
    const file = SalvageStore.copyOf(store, table)
    // What an erasure by its time deletes is found without people.
    const operation = table === "people" ? "person" : oneOf(SalvageStore.operations)
    const damage = PageDamage.damage(file, table, "interior", oneOf(blatant), random)
    const said = `${operation} after ${damage}`
    const { canRecord, receipt, wrong } = await SalvageStore.eraseIn(store, file, operation, sample)
    expect(wrong, said).toEqual([])
    expect(canRecord, said).toBe(true)
    const names = receipt.rebuilt?.map(({ name }) => name)
    expect(names, said).toContain(table)
    expect(isMalformed(file, table), said).toBe(false)
  }
)

/** What SQLite does not notice of these is in the hands of SQLite: see `docs/storage.md`. */
it(`takes nothing from others and leaves nothing where any page is damaged, seed ${seed}`, async () => {
  let rebuilt = 0
  for (let round = 0; round < 10 * runs; round++) {
    const { oneOf, random } = drawsOf(100 + round)
    const [table, operation] = [oneOf(SalvageStore.tables), oneOf(SalvageStore.operations)]
    const file = SalvageStore.copyOf(store, `any-${round}`)
    const level = oneOf(["leaf", "leaf", "interior", "overflow"] as const)
    const damage = PageDamage.damage(file, table, level, oneOf(PageDamage.kindNames), random)
    if (damage === undefined) continue
    const said = `round ${round}: ${operation} after ${damage}`
    const { canRecord, receipt, wrong } = await SalvageStore.eraseIn(store, file, operation, sample)
    expect(wrong, said).toEqual([])
    expect(receipt, said).not.toHaveProperty("refused")
    if (receipt.rebuilt === undefined) continue
    rebuilt++
    expect(canRecord, said).toBe(true)
  }
  expect(rebuilt).toBeGreaterThan(2)
})

/** Overwrites all pages of a table and an index that have a name in them. */
const destroy = (file: string, names: ReadonlyArray<string>, word: string) => {
  const { random } = drawsOf(0)
  for (const name of names) {
    const isLeft = (bytes: Buffer) => bytes.includes(word)
    while (PageDamage.damage(file, name, "leaf", "zeros", random, isLeft) !== undefined);
  }
}

const unowned = ["shared_pieces"]

const countsOf = (
  file: string,
  tables = ["events", "packs", "shared_piece_owners", "idempotency_keys", ...unowned]
) => {
  const database = new DatabaseSync(file)
  try {
    return tables.map((table) => database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()!["rows"])
  } finally {
    database.close()
  }
}

it("changes nothing where neither a table nor its index says whose rows there are", async () => {
  const file = SalvageStore.copyOf(store, "nameless")
  const counts = countsOf(file)
  destroy(file, ["sessions", "sessions_by_id"], "shared")
  const erase = (name: string) =>
    withRecorder(file, (recorder) => Effect.flip(recorder.eraseSession(SessionId.make(name))))
  expect(await erase("shared")).toMatchObject({ _tag: "storage-unavailable", cause: { name: "Damage" } })
  expect(countsOf(file)).toEqual(counts)
})

it("changes nothing where neither a table nor its index says who uses shared pieces", async () => {
  const file = SalvageStore.copyOf(store, "owners")
  for (const name of ["shared_piece_owners", "shared_piece_owners_by_piece"]) destroy(file, [name], "")
  const counts = countsOf(file, unowned)
  await withRecorder(file, (recorder) => Effect.flip(recorder.erasePerson(PersonId.make(`${words.kept} person`))))
  expect(countsOf(file, unowned)).toEqual(counts)
})

it("reads no event as another one where pages are out of order", async () => {
  const { random } = drawsOf(1)
  for (let round = 0; round < 4; round++) {
    const file = SalvageStore.copyOf(store, `order-${round}`)
    PageDamage.damage(file, "events", "interior", "a wrong pointer", random)
    const wrong = await withRecorder(file, (recorder) =>
      Effect.gen(function* () {
        const wrong: Array<string> = []
        for (const id of store.events.keys()) {
          const exit = yield* Effect.exit(recorder.getEvent(id))
          if (exit._tag === "Success" && exit.value.id !== id) wrong.push(id)
        }
        return wrong
      }).pipe(SalvageStore.quietly)
    )
    expect(wrong).toEqual([])
  }
})

it.each([
  ["at the first row", 0],
  ["among the rows", 100],
  ["after the commit", Number.POSITIVE_INFINITY]
])("erases everything after a process was killed %s of a new table", async (name, rows) => {
  const file = SalvageStore.copyOf(store, name.replaceAll(" ", "-"))
  const { random } = drawsOf(2)
  PageDamage.damage(file, "packs", "interior", "zeros", random)
  const session = PlantedWords.sessionOf(words.session)
  const child = spawnSync(process.execPath, [script, file, session, String(rows)])
  expect(child).toMatchObject({ signal: "SIGKILL" })
  const { canRecord, receipt, wrong } = await SalvageStore.eraseIn(store, file, "session", sample)
  expect(wrong).toEqual([])
  expect(canRecord).toBe(true)
  expect(receipt).toMatchObject({ events: 16, sessions: 1 })
  expect(receipt.rebuilt).toEqual(rows === Number.POSITIVE_INFINITY ? undefined : [{ name: "packs", lost: 0 }])
})

it("ends a verification where the sessions are in no order", async () => {
  const file = SalvageStore.copyOf(store, "no-order")
  const database = new DatabaseSync(file)
  const offsets = database
    .prepare("SELECT name, pgoffset FROM dbstat WHERE name IN ('events', 'sessions') AND path = '/'")
    .all()
  database.close()
  const offsetOf = (table: string) => Number(offsets.find(({ name }) => name === table)!["pgoffset"])
  const bytes = readFileSync(file)
  bytes.copy(bytes, offsetOf("sessions"), offsetOf("events"), offsetOf("events") + 4096)
  writeFileSync(file, bytes)
  const { findings } = await SalvageStore.verify(file)
  expect(findings.map(({ problem }) => problem)).toContain("unreadable")
})

it("overwrites the pages of what was built anew when nothing else is malformed any more", async () => {
  const file = SalvageStore.copyOf(store, "not-yet")
  const { random } = drawsOf(3)
  PageDamage.damage(file, "packs", "interior", "zeros", random)
  const [api_keys] = rootsOf(file, "api_keys")
  const whole = readFileSync(file).subarray(api_keys, api_keys! + 4096)
  PageDamage.damage(file, "api_keys", "leaf", "zeros", random)
  const { receipt } = await SalvageStore.eraseIn(store, file, "session", sample)
  expect(receipt).toMatchObject({ events: 16, rebuilt: [{ name: "packs" }] })
  expect(dueOf(file)).not.toBe(0)
  const bytes = readFileSync(file)
  whole.copy(bytes, api_keys)
  writeFileSync(file, bytes)
  await withRecorder(file, () => Effect.void)
  expect(dueOf(file)).toBe(0)
})

const rootsOf = (file: string, name: string): ReadonlyArray<number> => {
  const database = new DatabaseSync(file)
  const rows = database.prepare("SELECT pgoffset FROM dbstat WHERE name = ? AND path = '/'").all(name)
  database.close()
  return rows.map(({ pgoffset }) => Number(pgoffset))
}

const dueOf = (file: string): unknown => {
  const database = new DatabaseSync(file)
  const [row] = database.prepare("PRAGMA user_version").all()
  database.close()
  return row!["user_version"]
}
