/** Damages one page of a table or an index in a closed file, as disks and other programs do. */
import { closeSync, openSync, readSync, writeSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"

export type Level = "leaf" | "interior" | "overflow"

type Random = (below: number) => number

interface Place {
  readonly bytes: Buffer
  readonly level: Level
  /** Numbers of pages of the same tree, and of all others. */
  readonly siblings: ReadonlyArray<number>
  readonly others: ReadonlyArray<number>
  readonly random: Random
  readonly read: (page: number) => Buffer
  readonly write: (page: number, bytes: Buffer) => void
}

const headerBytes = { leaf: 8, interior: 12, overflow: 0 }

const oneOf = <A>(values: ReadonlyArray<A>, random: Random): A => values[random(values.length)]!

const cellPointers = ({ bytes, level }: Place): ReadonlyArray<number> =>
  Array.from({ length: bytes.readUInt16BE(3) }, (_, n) => headerBytes[level] + 2 * n)

/** Where a page names others: children of an interior page, the next page of an overflow page. */
const pointers = (place: Place): ReadonlyArray<number> =>
  place.level === "overflow" ? [0] : [8, ...cellPointers(place).map((at) => place.bytes.readUInt16BE(at))]

const wrongPage = ({ others, random, siblings }: Place, isElsewhere: boolean): number =>
  isElsewhere ? oneOf(others, random) : oneOf([0, 1_000_000, ...siblings], random)

const flip = (bytes: Buffer, below: number, random: Random): void => {
  bytes[random(below)]! ^= 1 << random(8)
}

/** By their names. Each changes the bytes of a page. */
export const kinds = {
  zeros: ({ bytes }: Place) => void bytes.fill(0),
  garbage: ({ bytes, random }: Place) => {
    for (let at = 0; at < bytes.length; at++) bytes[at] = random(256)
  },
  "garbage in the header": ({ bytes, random }: Place) => {
    for (let at = 0; at < 8; at++) bytes[at] = random(256)
  },
  "a bit of the header": ({ bytes, random }: Place) => flip(bytes, 12, random),
  "a bit": ({ bytes, random }: Place) => flip(bytes, bytes.length, random),
  "another type": ({ bytes, random }: Place) => void (bytes[0]! ^= 1 << random(8)),
  "a cell out of range": (place: Place) => {
    if (place.level === "overflow") return
    const at = oneOf(cellPointers(place), place.random)
    place.bytes.writeUInt16BE(oneOf([0, 3, place.bytes.length - 1, 0xffff], place.random), at)
  },
  "a wrong pointer": (place: Place) => {
    if (place.level === "leaf") return
    place.bytes.writeUInt32BE(wrongPage(place, false), oneOf(pointers(place), place.random))
  },
  "a pointer to another tree": (place: Place) => {
    if (place.level === "leaf") return
    place.bytes.writeUInt32BE(wrongPage(place, true), oneOf(pointers(place), place.random))
  },
  "half of it": ({ bytes }: Place) => void bytes.fill(0, bytes.length / 2),
  "the bytes of another page": ({ bytes, others, random, read, siblings }: Place) =>
    void read(oneOf(random(2) === 0 ? siblings : others, random)).copy(bytes),
  "swapped with another page": ({ bytes, random, read, siblings, write, ...place }: Place) => {
    const other = oneOf(siblings, random)
    const copy = read(other)
    // A root stays where the schema says that it is.
    if (place.level !== "leaf" || ![0x0a, 0x0d].includes(copy[0]!)) return
    write(other, bytes)
    copy.copy(bytes)
  }
} as const

export type Kind = keyof typeof kinds

export const kindNames = Object.keys(kinds) as ReadonlyArray<Kind>

/** Returns what was done; undefined if nothing. */
export const damage = (
  file: string,
  name: string,
  level: Level,
  kind: Kind,
  random: Random,
  isChosen: (bytes: Buffer) => boolean = () => true
): string | undefined => {
  const database = new DatabaseSync(file)
  const rows = database.prepare("SELECT name, pageno, pagetype FROM dbstat").all() as unknown as ReadonlyArray<{
    readonly name: string
    readonly pageno: number
    readonly pagetype: string
  }>
  const [{ page_size }] = database.prepare("PRAGMA page_size").all() as [{ page_size: number }]
  database.close()
  const levelOf = (type: string): Level => {
    if (type === "leaf") return type
    return type === "internal" ? "interior" : "overflow"
  }
  const own = rows.filter((row) => row.name === name)
  const descriptor = openSync(file, "r+")
  try {
    const read = (page: number) => {
      const bytes = Buffer.alloc(page_size)
      readSync(descriptor, bytes, 0, page_size, (page - 1) * page_size)
      return bytes
    }
    const write = (page: number, bytes: Buffer) =>
      void writeSync(descriptor, bytes, 0, page_size, (page - 1) * page_size)
    const pages = own
      .filter((row) => levelOf(row.pagetype) === level && isChosen(read(row.pageno)))
      .map(({ pageno }) => pageno)
    if (pages.length === 0) return undefined
    const page = oneOf(pages, random)
    const before = read(page)
    const bytes = Buffer.from(before)
    kinds[kind]({
      ...{ bytes, level, random, read, write },
      siblings: own.map(({ pageno }) => pageno),
      others: rows.filter((row) => row.name !== name && row.pageno > 1).map(({ pageno }) => pageno)
    })
    if (bytes.equals(before)) return undefined
    write(page, bytes)
    return `${kind} in ${level} page ${page} of ${name}`
  } finally {
    closeSync(descriptor)
  }
}
