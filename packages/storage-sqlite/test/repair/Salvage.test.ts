/** What the reader of pages finds in random tables, whole and damaged, beside what SQLite does. */
import { StorageSuite, TestSeed } from "@tachograph/testkit"
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs"
import { DatabaseSync, type SQLInputValue } from "node:sqlite"
import { isDeepStrictEqual } from "node:util"
import { afterAll, expect, it } from "vitest"
import { PageFile } from "../../src/repair/PageFile.ts"
import * as Salvage from "../../src/repair/Salvage.ts"
import * as Schema from "../../src/repair/Schema.ts"
import { Trees } from "../../src/repair/Trees.ts"
import { temporaryFile } from "../TemporaryFile.ts"

const { Calls } = StorageSuite
const runs = Number(process.env["TACHOGRAPH_TEST_RUNS"] ?? 1)
const { seed } = TestSeed

const random = Calls.random(seed)
const oneOf = <A>(values: ReadonlyArray<A>): A => values[random(values.length)]!

const pageSizes = [512, 1024, 4096, 65_536]

/** Lengths of one byte and more, and around those from which a row of a page of this size has overflow pages. */
const lengthOf = (pageBytes: number): number =>
  oneOf([
    0,
    1,
    57,
    58,
    random(300),
    Math.floor(pageBytes / 4) + random(60),
    pageBytes - random(60),
    random(4 * pageBytes)
  ])

const integer = (): bigint => {
  const power = 2n ** BigInt(oneOf([0, 7, 8, 15, 16, 23, 24, 31, 32, 47, 48, 63]))
  const value = oneOf([power - 1n, -power, random(256), -random(256), power === 2n ** 63n ? 0n : power])
  return BigInt(value)
}

const texts = ["", "a", "ä€😀", " \u0000 ", "x".repeat(70)]

const valueOf = (type: string, pageBytes: number): SQLInputValue => {
  if (type === "BLOB") return Buffer.from(Calls.noise(random(1_000), lengthOf(pageBytes)))
  if (/INT/.test(type)) return integer()
  if (type === "REAL") return oneOf([0, -1.5, 1e300, 5, random(1_000) / 7])
  return oneOf([...texts, Calls.noise(random(1_000), lengthOf(pageBytes))])
}

const types = ["INTEGER", "SMALLINT", "REAL", "BLOB", "TEXT", "varchar(255)"]

interface Column {
  readonly name: string
  readonly type: string
  readonly isNullable: boolean
}

/** Makes a table of random columns, some of which are added later, and an index, with rows that were changed and deleted. */
const fill = (file: string): void => {
  const database = new DatabaseSync(file)
  const pageBytes = oneOf(pageSizes)
  database.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA secure_delete = ON; BEGIN`)
  const columns = Array.from({ length: 2 + random(7) }, (_, n): Column => ({
    name: `c${n}`,
    type: oneOf(types),
    isNullable: random(2) === 0
  }))
  // As in all tables, no entry of an index is like a row.
  columns.push({ name: "last", type: "BLOB", isNullable: false })
  const keyAt = random(columns.length + 1)
  const declared = columns.map(({ isNullable, name, type }) => `${name} ${type}${isNullable ? "" : " NOT NULL"}`)
  declared.splice(
    keyAt,
    0, // Of INTEGER it would be the rowid.
    "id BIGINT NOT NULL"
  )
  database.exec(`CREATE TABLE rows (${declared.join(", ")}, PRIMARY KEY (id${random(2) === 0 ? "" : ", c0"}))
    ${random(2) === 0 ? "WITHOUT ROWID" : ""}`)
  database.exec("CREATE INDEX by_column ON rows (c0)")
  const insert = (some: ReadonlyArray<Column>, id: number) => {
    const values = some.map(({ isNullable, name, type }) =>
      isNullable && name !== "c0" && random(4) === 0 ? null : valueOf(type, pageBytes)
    )
    database
      .prepare(
        `INSERT INTO rows (id, ${some.map(({ name }) => name).join(", ")}) VALUES (?${", ?".repeat(some.length)})`
      )
      .run(id, ...values)
  }
  const rows = oneOf([0, 1, 40, 150])
  for (let id = 0; id < rows; id++) insert(columns, id * 7)
  const added = [
    { name: "added", type: "TEXT", isNullable: true },
    { name: "other", type: "INTEGER", isNullable: false }
  ]
  database.exec("ALTER TABLE rows ADD COLUMN added TEXT; ALTER TABLE rows ADD COLUMN other INTEGER NOT NULL DEFAULT 7")
  for (let id = 0; id < rows / 4; id++) insert([...columns, ...added], id * 7 + 1)
  database.exec("UPDATE rows SET c0 = c0 WHERE id % 5 = 0; DELETE FROM rows WHERE id % 3 = 0; COMMIT")
  database.close()
}

/** Refuses pages that the file does not have, and counts those that are read. */
class CountedFile extends PageFile {
  reads = 0

  override read(page: number): Buffer {
    expect(page).toBeGreaterThan(0)
    expect(page).toBeLessThanOrEqual(this.pages)
    this.reads++
    return super.read(page)
  }
}

const descriptors: Array<number> = []
const databases: Array<DatabaseSync> = []
afterAll(() => {
  databases.forEach((each) => each.close())
  descriptors.forEach((each) => closeSync(each))
})

/** The pages of a file as they are now. */
const open = (file: string) => {
  const bytes = readFileSync(file)
  const pageBytes = bytes.readUInt16BE(16) === 1 ? 65_536 : bytes.readUInt16BE(16)
  const descriptor = openSync(file, "r")
  descriptors.push(descriptor)
  return new CountedFile(descriptor, pageBytes, Math.ceil(bytes.length / pageBytes))
}

const rowsOf = (database: DatabaseSync) => {
  const select = database.prepare("SELECT * FROM rows ORDER BY id")
  select.setReadBigInts(true)
  return select.all()
}

const knownIn = (file: string, pages: CountedFile, trees: Trees<Schema.Entry>, index: Schema.Entry) => {
  const former = new DatabaseSync(file)
  databases.push(former)
  try {
    return new Salvage.Salvage(former, pages, trees, true).isIn(index)
  } catch {
    // The file is cut.
    return undefined
  }
}

/** Copies the rows into a new table, past SQLite. `entries` are those of the file while it was whole. */
const copy = (file: string, pages: CountedFile, entries: ReadonlyArray<Schema.Entry>) => {
  const trees = new Trees(pages, [...entries, Schema.schema])
  const into = new DatabaseSync(":memory:")
  for (const { sql } of entries) if (sql !== null) into.exec(sql)
  const salvage = new Salvage.Salvage(into, pages, trees, true)
  const table = entries.find(({ name }) => name === "rows")!
  const whole = entries.find((entry) => entry.type === "index" && !trees.malformed.has(entry))
  salvage.copy(table, () => {}, whole && knownIn(file, pages, trees, whole))
  const missing = entries.filter(({ type }) => type === "index").flatMap((index) => Array.from(salvage.missing(index)))
  return { trees, into, missing }
}

const filled = () => {
  const file = temporaryFile()
  fill(file)
  const database = new DatabaseSync(file)
  const entries = Schema.entriesOf(database)
  const rows = rowsOf(database)
  database.close()
  return { file, entries, rows }
}

it(`copies every row as SQLite reads it, seed ${seed}`, () => {
  for (let run = 0; run < 12 * runs; run++) {
    const { entries, file, rows } = filled()
    const { into, missing, trees } = copy(file, open(file), entries)
    expect(rowsOf(into)).toEqual(rows)
    expect(missing).toEqual([])
    expect(Array.from(trees.malformed, ({ name }) => name)).toEqual([])
    expect(Array.from(trees.lost())).toEqual([])
  }
})

it.each(["", "WITHOUT ROWID"])("copies rows of every length in a table %s", (option) => {
  const file = temporaryFile()
  const database = new DatabaseSync(file)
  database.exec(`PRAGMA page_size = 512; BEGIN; CREATE TABLE rows (id BIGINT, c0 BLOB, PRIMARY KEY (id)) ${option}`)
  const insert = database.prepare("INSERT INTO rows VALUES (?, ?)")
  for (let length = 0; length < 1_600; length++) insert.run(length, Buffer.alloc(length, length % 251))
  database.exec("COMMIT")
  const rows = rowsOf(database)
  const { into } = copy(file, open(file), Schema.entriesOf(database))
  database.close()
  expect(rowsOf(into)).toEqual(rows)
})

it("ends where a row has its pages in a circle", () => {
  const file = temporaryFile()
  const database = new DatabaseSync(file)
  database.exec("CREATE TABLE rows (id BIGINT, c0 BLOB, PRIMARY KEY (id))")
  database.prepare("INSERT INTO rows VALUES (1, ?)").run(Buffer.alloc(20_000, 1))
  const entries = Schema.entriesOf(database)
  const leaf = Number(
    database.prepare("SELECT pageno FROM dbstat WHERE name = 'rows' AND pagetype = 'leaf'").get()!["pageno"]
  )
  database.close()
  const bytes = readFileSync(file)
  const page = bytes.subarray((leaf - 1) * 4096, leaf * 4096)
  const cell = page.readUInt16BE(8)
  // 2,097,151 bytes. They have another number of bytes in their page.
  page.set([0xff, 0xff, 0x7f], cell)
  const least = Math.floor(((4096 - 12) * 32) / 255) - 23
  const rest = least + ((2_097_151 - least) % 4092)
  const first = leaf + 1
  page.writeUInt32BE(first, cell + 4 + (rest <= 4096 - 35 ? rest : least))
  bytes.writeUInt32BE(first, (first - 1) * 4096)
  writeFileSync(file, bytes)
  const damaged = open(file)
  expect(rowsOf(copy(file, damaged, entries).into)).toEqual([])
  expect(damaged.reads).toBeLessThan(60)
})

/** Each changes a page of a file. */
const damages: ReadonlyArray<(page: Buffer, file: Buffer) => void> = [
  (page) => void page.fill(0),
  (page) => page.forEach((_, at) => (page[at] = random(256))),
  (page) => page.fill(0xff, random(page.length)),
  (page) => void (page[random(page.length)]! ^= 1 << random(8)),
  (page) => void (page[random(12)]! ^= 1 << random(8)),
  // Of an interior page, its last child; of an overflow page, the next one.
  (page, file) => page.writeUInt32BE(1 + random(file.length / page.length), oneOf([0, 8])),
  // Where the end of a cell often is, and with it the number of an overflow page.
  (page, file) => page.writeUInt32BE(random(2 + file.length / page.length), page.length - 4),
  (page, file) => void file.copy(page, 0, page.length * random(file.length / page.length))
]

/** The rows that SQLite reads from a damaged file as they were. */
const stillRead = (file: string, rows: ReturnType<typeof rowsOf>) => {
  const database = new DatabaseSync(file)
  try {
    const find = database.prepare("SELECT * FROM rows WHERE id = ?")
    find.setReadBigInts(true)
    return rows.filter((row) => {
      try {
        return isDeepStrictEqual({ ...find.get(row["id"] as bigint) }, { ...row })
      } catch {
        return false
      }
    })
  } catch {
    // The file is cut.
    return []
  } finally {
    database.close()
  }
}

it(`ends, loses no row that SQLite can read, and reads no page that there is not, where pages are damaged, seed ${seed}`, () => {
  for (let run = 0; run < 20 * runs; run++) {
    const { entries, file, rows } = filled()
    const bytes = readFileSync(file)
    const { pageBytes } = open(file)
    const pages = bytes.length / pageBytes
    const damagedPages = 1 + random(3)
    for (let n = damagedPages; n > 0 && pages > 1; n--) {
      const at = pageBytes * (1 + random(pages - 1))
      oneOf(damages)(bytes.subarray(at, at + pageBytes), bytes)
    }
    // The end may be cut, in the middle of a page.
    writeFileSync(file, random(4) === 0 ? bytes.subarray(0, bytes.length - random(pageBytes)) : bytes)
    const damaged = open(file)
    const { into } = copy(file, damaged, entries)
    const copied = new Map(rowsOf(into).map((row) => [row["id"], row]))
    // Several may make the rows of one page look like those of another one. SQLite takes the first column from the index.
    for (const row of damagedPages === 1 ? stillRead(file, rows) : []) {
      expect({ ...copied.get(row["id"]!), c0: row["c0"] }).toEqual(row)
    }
    expect(rowsOf(into).length).toBeLessThanOrEqual(rows.length + pages)
    expect(damaged.reads).toBeLessThan(100 + 40 * pages)
  }
})

it(`copies every row of other pages where one is zeros, seed ${seed}`, () => {
  for (let run = 0; run < 20 * runs; run++) {
    const { entries, file, rows } = filled()
    const { pageBytes } = open(file)
    const database = new DatabaseSync(file)
    // Rows that are within one page: what has overflow pages may be on the page, too.
    const interior = database
      .prepare("SELECT pageno FROM dbstat WHERE name = 'rows' AND pagetype = 'internal'")
      .all() as unknown as ReadonlyArray<{ readonly pageno: number }>
    const isOfTable = entries.find(({ name }) => name === "rows")!.kind === "table"
    database.close()
    // Entries of an index, and so of a table without rowids, are in interior pages, too.
    if (interior.length === 0 || !isOfTable) continue
    const bytes = readFileSync(file)
    const at = (oneOf(interior).pageno - 1) * pageBytes
    writeFileSync(file, bytes.fill(0, at, at + pageBytes))
    expect(rowsOf(copy(file, open(file), entries).into)).toEqual(rows)
  }
})
